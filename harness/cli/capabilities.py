"""All that there is to use, a line each: commands, reports, steps, checks, faults, what nights do and find.

`python -m rocketchaos.harness.cli.capabilities`, before a change and after it: `diff` shows what is lost.
"""

from collections.abc import Iterable, Iterator, Mapping

from rocketchaos.assertions import CHECKS
from rocketchaos.harness.cli.main import COMMANDS
from rocketchaos.harness.cli.report import COMMANDS as REPORT_COMMANDS
from rocketchaos.harness.language.fault_registry import FAULT_KINDS
from rocketchaos.harness.nightly.invariants import INVARIANTS
from rocketchaos.harness.nightly.operations import OPERATIONS
from rocketchaos.harness.nightly.triggers import TRIGGERS
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.steps import STEPS
from rocketchaos.harness.steps.settle import CONDITIONS

REGISTRIES: Mapping[str, Iterable[str]] = {
    "command": COMMANDS,
    "report": REPORT_COMMANDS,
    "step": STEPS,
    "condition": CONDITIONS,
    "check": CHECKS,
    "fault": FAULT_KINDS,
    "client": CLIENT_KINDS,
    "operation": OPERATIONS,
    "trigger": TRIGGERS,
    "invariant": [invariant.kind for invariant in INVARIANTS],
}


def capabilities() -> Iterator[str]:
    """`step kill`, in order."""
    for what, names in REGISTRIES.items():
        yield from sorted(f"{what} {name}" for name in names)


if __name__ == "__main__":
    print(*capabilities(), sep="\n")
