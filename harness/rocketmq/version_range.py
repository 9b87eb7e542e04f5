"""The versions of RocketMQ that a scenario states, `>=5.0`."""

import re
from typing import Annotated

from pydantic import AfterValidator

_OPERATORS = ("", "~", "=", "!", "<", ">")
"""How each comparison begins; checked first, because the parser of comparisons takes a while to load."""
_VERSION = re.compile(r"\d+(\.\d+)+")


def is_range(text: str) -> bool:
    """Whether a text is comparisons of versions; an empty one is."""
    if text.strip(" ,")[:1] not in _OPERATORS:
        return False
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # few scenarios need it

    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return False
    return True


def how_to_write(text: str) -> str | None:
    """How a version without a comparison, `4.9.2`, becomes a range; None if the text is no version."""
    if not _VERSION.fullmatch(text):
        return None
    return f"write `=={text}` for this version alone, `>={text}` from it on"


def _a_range(text: str) -> str:
    if text and not is_range(text):
        way = how_to_write(text) or "write `>=5.0`, `<5`, `>=4.9.4,<5.2`"
        raise ValueError(f"`{text[:60]}` is no range of versions: {way}")
    return text


VersionRange = Annotated[str, AfterValidator(_a_range)]
"""Comparisons of versions, all of which must hold; empty: every version."""


def contains(wanted: str, version: str) -> bool:
    """Whether a version is in the range; a build (`5.5.1-SNAPSHOT+ab12cd34`) counts as the release it becomes."""
    if not wanted:
        return True
    from packaging.specifiers import SpecifierSet

    return re.split("[-+]", version)[0] in SpecifierSet(wanted)


def why_not_in(wanted: str, version: str) -> str | None:
    """Why a version is not in the range, to be put behind what wants it; None if it is."""
    if contains(wanted, version):
        return None
    return f"is about RocketMQ {wanted}, and not about {version}"
