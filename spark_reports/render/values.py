"""Values of tables as people read them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rocketchaos.harness.core.text import printable
from rocketchaos.spark_reports.render.links import RunLink

UNKNOWN = "–"
"""Of what is not known, or doesn't apply."""

TONES: Mapping[str, str] = {"PASS": "good", "FLAKY": "unsure", "FAIL": "bad", "UNKNOWN": "quiet"}
"""Verdict: the tone of its chip. The word always stands in it."""

_DIGITS = 7
_LONG_CHARACTERS = 40
_UNBROKEN_CHARACTERS = 90


@dataclass(frozen=True, slots=True)
class Shown:
    """One cell of a table on the page."""

    text: str
    classes: str = ""
    value: str | None = None
    """The number to sort by, with seven digits; None: the text."""
    run: RunLink | None = None
    tone: str | None = None


def shown(value: Any, run: RunLink | None = None) -> Shown:
    """A value of a table on the page; `run` where it names a run that can be linked to."""
    text = words(value)
    if text == UNKNOWN:
        return Shown(text, "unknown")
    if isinstance(value, bool):
        return Shown(text)
    if isinstance(value, int | float):
        return Shown(text, value=f"{value:.{_DIGITS}g}")
    if isinstance(value, datetime):
        return Shown(text)
    if not isinstance(value, str):
        return Shown(text, "text")
    if value in TONES:
        return Shown(text, tone=TONES[value])
    if run is not None:
        return Shown(run.name or text, "run", run=run)
    if len(text) <= _LONG_CHARACTERS:
        return Shown(text, "text" if " " in text else "")
    return Shown(text, "unbroken" if " " not in text and len(text) <= _UNBROKEN_CHARACTERS else "text long")


def words(value: Any) -> str:
    """A value in a line: numbers with three digits that matter, times in UTC."""
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{printable(name)} {words(item)}" for name, item in value.items()) or UNKNOWN
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(words(item) for item in value) or UNKNOWN
    return printable(value)


def _number(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
        if 0.999 < abs(value) < 1:  # nearly all is not all
            digits = math.ceil(-math.log10(1 - abs(value)))
        text = f"{value:,.{digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.3g}"


def moment(at: datetime) -> str:
    """`2026-03-01 02:11`, in UTC; a time without a zone is taken for UTC, as Spark's sessions here are."""
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    return aware.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def heading(column: str) -> str:
    """The name of a column with spaces; the unit stays last."""
    return column.replace("_", " ")
