"""Numbers in the sentences of reports."""


def chance(p: float) -> str:
    """`p=0.003`, `p<0.001`."""
    return "p<0.001" if p < 0.001 else f"p={p:.2g}"
