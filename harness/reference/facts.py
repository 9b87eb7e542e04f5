"""The kinds of facts of a run folder, `docs/facts.md`, made from their types in `harness.facts.kinds`.

To update it after a change: `python -m rocketchaos.harness.reference.facts > docs/facts.md`.
"""

import sys
from inspect import cleandoc

from msgspec import Struct

from rocketchaos.harness.facts.kinds import FACTS_VERSION, KINDS, MessageLine, word_of
from rocketchaos.harness.reference.events import described

_OPENING = f"""\
# Facts of a run

Made from `harness/facts/kinds.py` by `python -m rocketchaos.harness.reference.facts`: don't edit it.

When a run is judged, the judge writes typed facts for reports into the run folder: `facts.jsonl`, with one
fact per line, and `messages.jsonl`, with one line per message and group. `rocketchaos check` makes both again, and
`rocketchaos report ingest` loads them; if a folder has none, or they don't match its files, ingest makes them with
the same code. An incomplete folder (its history is cut, or its messages differ from those sent) has no facts.

Times within a run are ms on CLOCK_MONOTONIC since its first event. `n` and `events` are numbers of lines of
`events.jsonl`. Topics, groups and consumers appear under the names that the scenario gives them. Each fact has its
word in the field `fact`. All fields are always there; some may be null. This is version {FACTS_VERSION}.
"""


def facts_reference() -> str:
    """The whole document, in Markdown."""
    parts = [_OPENING]
    for kind in KINDS:
        parts.append(_section(word_of(kind), kind, f" Made by `harness/facts/{kind.made_by}.py`."))
    parts.append(_section("A line of `messages.jsonl`", MessageLine, " Made by `assertions/oracle.py`."))
    return "\n".join(parts)


def _section(title: str, kind: type[Struct], maker: str) -> str:
    says = " ".join(cleandoc(kind.__doc__ or "").split())
    rows = [f"| `{item.name}` | {item.type} | {item.meaning} |" for item in described(kind)]
    return "\n".join(
        [f"## {title}\n", says + maker + "\n", "| field | type | meaning |", "|---|---|---|", *rows, ""]
    )


if __name__ == "__main__":
    sys.stdout.write(facts_reference())
