"""The catalogue of the shipped scenarios, `scenarios/CATALOGUE.md`, made from the scenarios and the claims.

To write it anew after a change: `python -m rocketchaos.harness.reference.catalogue > scenarios/CATALOGUE.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from rocketchaos.harness.claims.registry import claims
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.language.expectation import expected_text
from rocketchaos.harness.plan.library import shipped
from rocketchaos.harness.plan.selection import load_all
from rocketchaos.harness.scenario.model import Scenario

_OPENING = """\
# Scenarios and claims

Made from the scenarios and `claims.yaml` by `python -m rocketchaos.harness.reference.catalogue`: don't edit it.

An anomaly is followed by its control, in which it must be absent. Timing is compressed unless `faithful` is said.
"""


def catalogue() -> str:
    """The whole catalogue, in Markdown."""
    scenarios = load_all(sorted(shipped().values()))
    parts = [_OPENING]
    for theme, of_theme in groupby(scenarios, key=lambda one: Path(one.file).parent.name):
        parts.append(f"## {theme}\n")
        parts.append("\n".join(_table(list(of_theme))) + "\n")
    parts.append("## The claims that checks carry\n")
    parts.append(
        "A check with `claim: B01` confirms this sentence where it holds, for the version and timing of the run; "
        "one with `refutes: A07` shows its contrary. In the tables such a claim is marked `~A07`.\n"
    )
    parts.append("\n".join(_claims(scenarios)) + "\n")
    return "\n".join(parts)


def claims_of(scenario: Scenario) -> tuple[str, ...]:
    """The claims that its checks carry, in order."""
    return tuple(sorted({check.claim for _, _, check in scenario.checks() if check.claim}))


def refuted_by(scenario: Scenario) -> tuple[str, ...]:
    """The claims whose contrary its checks state, in order."""
    return tuple(sorted({check.refutes for _, _, check in scenario.checks() if check.refutes}))


def in_pairs(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """Each anomaly followed by its control, where that is not there already."""
    by_name = {one.name: one for one in scenarios}
    ordered: dict[str, Scenario] = {}
    for one in sorted(
        scenarios, key=lambda one: (OutcomeKind.REPRODUCED not in one.expected_kinds, one.name)
    ):
        ordered.setdefault(one.name, one)
        if one.control in by_name:
            ordered.setdefault(str(one.control), by_name[str(one.control)])
    return list(ordered.values())


def _table(scenarios: Sequence[Scenario]) -> Iterator[str]:
    yield "| scenario | what is to be seen | expected | claims |"
    yield "|---|---|---|---|"
    for one in in_pairs(scenarios):
        facts = [
            expected_text(one.expected),
            *([one.timing] if one.timing != "compressed" else []),
            *filter(None, [one.rocketmq]),
        ]
        control = f"; its control: `{one.control}`" if one.control else ""
        title = one.title.replace("|", "\\|")
        yield f"| `{one.name}` | {title}{control} | {', '.join(facts)} | {_told(one)} |"


def _told(scenario: Scenario) -> str:
    return ", ".join([*claims_of(scenario), *(f"~{claim}" for claim in refuted_by(scenario))])


def _claims(scenarios: Sequence[Scenario]) -> Iterator[str]:
    carried = {claim for one in scenarios for claim in (*claims_of(one), *refuted_by(one))}
    yield "| claim | in one sentence |"
    yield "|---|---|"
    for name, claim in claims().items():
        if name in carried:
            yield f"| {name} | {claim.claim} |"


def main() -> int:
    """Print the catalogue."""
    sys.stdout.write(catalogue())
    return ExitCode.AS_EXPECTED


if __name__ == "__main__":
    sys.exit(main())
