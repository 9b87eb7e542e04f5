"""How reports say numbers."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 run`, `2 runs`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def chance(p: float) -> str:
    """`p=0.003`, `p<0.001`."""
    return "p<0.001" if p < 0.001 else f"p={p:.2g}"
