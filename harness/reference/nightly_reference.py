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

`generator.py` draws a scenario from a seed, a number and a profile: the same one every time. It is written as
any other file, and `harness.scenario` validates it. `night.py` runs them, several in parallel, until the time
is up. `findings.py` checks each history against the invariants, and says nothing of a run that did not come to
its end, or in which the machine's clock jumped. Only for several owners it looks also where a condition was
not reached, which may be why. `shrink.py` makes a finding's scenario smaller, by `reductions.py`; `trial.py`
runs what it tries, and `smallest.py` is the whole way from a run to its minimal scenario.

A profile says what is drawn more often, or never. Where it names weights of a dimension, of
`operations` or of `triggers`, all others of that weigh 0:

```yaml
consistent: only                 # no group ever disagrees; default `drawn`
longest: 60s                     # skip what is expected to take longer; default 120s
dimensions: {members: {"2": 3, "3": 1}, listener: {orderly: 1}}
operations: {kill: 2, kill-broker: 1}
triggers: {unstored: 1}
```

`service` puts your own service under test: all members of a night are instances of it, and paths start at the
profile's folder. Clients, groups and subscriptions are then not drawn, and no member changes its own:

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
