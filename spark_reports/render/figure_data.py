"""A figure as data for the page, in which no stranger's text can act."""

import json
import re
from typing import Any

from markupsafe import Markup
from plotly.io import to_json

from rocketchaos.harness.core.text import printable
from rocketchaos.spark_reports.report import Figure

DEFAULT_HEIGHT_PX = 320
_WIDEST_PX = 2_400

_MARKUP = re.compile(r"<(?!/?(?:b|i|br|sub|sup|extra)\s*/?>)")
"""A `<` that begins none of the tags that figures of ours use; plotly would let a link work in a label."""


def figure_json(figure: Figure) -> Markup:
    """Data and layout, to stand in a `script` element of the page."""
    known = json.loads(to_json(figure.plot, validate=False, engine="json"))
    data = {"data": _harmless(known.get("data", [])), "layout": _harmless(known.get("layout", {}))}
    text = json.dumps(data, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def height_px(figure: Figure) -> int:
    """How high it is, so that the page doesn't jump while figures are drawn."""
    return int(figure.plot.layout.height or DEFAULT_HEIGHT_PX)


def min_width_px(figure: Figure) -> int:
    """Below which it scrolls within its box: `layout.meta["min_width"]`; otherwise it shrinks with the page."""
    meta = figure.plot.layout.meta
    width = meta.get("min_width", 0) if isinstance(meta, dict) else 0
    return max(0, min(int(width), _WIDEST_PX))


def _harmless(value: Any) -> Any:
    if isinstance(value, str):
        return _MARKUP.sub("&lt;", printable(value, keep="\n"))
    if isinstance(value, list):
        return [_harmless(item) for item in value]
    if isinstance(value, dict):
        return {name: _harmless(item) for name, item in value.items()}
    return value
