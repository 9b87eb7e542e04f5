"""The parts of nights, in Markdown.

To update it after a change: `python -m rocketchaos.harness.reference.nightly_reference >
harness/nightly/README.md`.
"""

import sys
from collections.abc import Iterator

from rocketchaos.harness.nightly.codes import CODES
from rocketchaos.harness.nightly.dimensions import DIMENSIONS
from rocketchaos.harness.nightly.invariants import INVARIANTS
from rocketchaos.harness.nightly.operations import OPERATIONS
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.nightly.reductions import REDUCTIONS
from rocketchaos.harness.nightly.triggers import TRIGGERS

_OPENING = """\
# Nightly chaos

Made from the registries, by `python -m rocketchaos.harness.reference.nightly_reference`: don't edit it here.

A night has these steps:

1. `generator.py` draws a scenario from a seed, a number and a profile: the same one every time. The scenario is
   a file like any other, and `harness.scenario` validates it.
2. `night.py` runs the scenarios, several in parallel, until the time is up.
3. `findings.py` checks each history against the invariants. It skips a run that did not come to its end, or in
   which the machine's clock jumped. If a condition was not reached, it only looks for several owners of a queue,
   because they may be the reason.
4. `smallest.py` makes the smallest scenario of a finding: `shrink.py` tries smaller ones, by `reductions.py`, and
   `trial.py` runs them.

A profile sets what a night draws more often, or never. If it names weights of a dimension, of `operations` or of
`triggers`, all others there have the weight 0:

```yaml
consistent: only                 # no group ever disagrees; default `drawn`
longest: 60s                     # skip scenarios that need longer; default 120s
dimensions: {members: {"2": 3, "3": 1}, listener: {orderly: 1}}
operations: {kill: 2, kill-broker: 1}
triggers: {unstored: 1}
```

`service` puts your own service under test: all members of a night are instances of it, and paths start at the
profile's folder. The night then draws no clients, groups or subscriptions, and no member changes its own:

```yaml
service:
  group: billing
  subscribe: {orders: paid}
  app: {jar: target/billing.jar, args: [$nameserver, paid]}
  body: fixtures/order.json     # the text of every message, as in the step `send`; default its key
```
"""


def reference() -> str:
    """The whole text."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _OPENING
    yield "## Dimensions\n\n| dimension | what it is | words and their weights |\n|---|---|---|"
    for dimension in DIMENSIONS.values():
        words = ", ".join(f"`{_cell(word)}` {weight:g}" for word, weight in dimension.weights.items())
        yield f"| `{dimension.name}` | {dimension.meaning} | {words} |"
    yield "\n## Operations\n"
    yield "| operation | what is done | weight | a group that agrees stays so |\n|---|---|---|---|"
    for each in OPERATIONS.values():
        yield f"| `{each.name}` | {each.meaning} | {each.weight:g} | {'yes' if each.agreeing else 'no'} |"
    yield "\n## Triggers\n\nWhen an operation is done.\n\n| trigger | when | weight |\n|---|---|---|"
    for trigger in TRIGGERS.values():
        yield f"| `{trigger.name}` | {trigger.meaning} | {trigger.weight:g} |"
    yield "\n## Invariants\n\nWhat must never happen.\n\n| finding | what it says |\n|---|---|"
    for invariant in INVARIANTS:
        yield f"| `{invariant.kind}` | {invariant.meaning} |"
    yield (
        "\n## Codes of findings\n\n"
        "A file of `--known` has a code a line. A code is never renamed, and never used again. "
        "The sentences\nthat such files had before there were codes are read as well.\n\n"
        "| code | what it says |\n|---|---|"
    )
    for code, meaning in CODES.items():
        yield f"| `{code}` | {_cell(meaning.cause)} |"
    yield (
        "\n## Reductions\n\nIn this order there are fewer "
        + ", ".join(f"`{name}`" for name in REDUCTIONS)
        + "."
    )
    yield f"\nKeys of a profile: {', '.join(f'`{name}`' for name in Profile.model_fields)}.\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(reference())
