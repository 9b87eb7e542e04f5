"""Strangers' text in Markdown: shown, never obeyed."""

import re

from rocketchaos.harness.core.text import one_line

_HARMLESS_CODE = re.compile(r"(`[\w .,:/$-]+`)")
_ACTIVE = re.compile(r"[\\`*<|~]|\](?=[(\[:])|!(?=\[)|(?<!\w)_|_(?!\w)|^[#>+-]|^\d+[.)](?=\s|$)")


def cell(value: object) -> str:
    """The text on one line, with everything escaped that Markdown or HTML in it would act on.

    Harmless text stays unchanged, because people read the file with `cat`, too.
    """
    parts = _HARMLESS_CODE.split(one_line(value).replace("&", "&amp;"))
    return "".join(
        part if index % 2 else _ACTIVE.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", part)
        for index, part in enumerate(parts)
    )


def code(value: object) -> str:
    """The text as code in a line, also in a cell of a table."""
    text = one_line(value).replace("|", "\\|")
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"
