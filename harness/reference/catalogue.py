"""The catalogue of the shipped scenarios, `scenarios/CATALOGUE.md`, made from the scenarios and the claims.

To update it after a change: `python -m rocketchaos.harness.reference.catalogue > scenarios/CATALOGUE.md`.
"""

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

An anomaly is followed by its control, in which it must be absent. The default timing is `compressed`.
"""


def catalogue() -> str:
    """The whole catalogue, in Markdown."""
    scenarios = load_all(sorted(shipped().values()))
    parts = [_OPENING]
    for theme, of_theme in groupby(scenarios, key=lambda scenario: Path(scenario.file).parent.name):
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
    by_name = {item.name: item for item in scenarios}
    ordered: dict[str, Scenario] = {}
    for scenario in sorted(
        scenarios, key=lambda item: (OutcomeKind.REPRODUCED not in item.expected_kinds, item.name)
    ):
        ordered.setdefault(scenario.name, scenario)
        if scenario.control in by_name:
            ordered.setdefault(str(scenario.control), by_name[str(scenario.control)])
    return list(ordered.values())


def _table(scenarios: Sequence[Scenario]) -> Iterator[str]:
    yield "| scenario | what is to be seen | expected | claims |"
    yield "|---|---|---|---|"
    for in_pair in in_pairs(scenarios):
        facts = [
            expected_text(in_pair.expected),
            *([in_pair.timing] if in_pair.timing != "compressed" else []),
            *filter(None, [in_pair.rocketmq]),
        ]
        control = f"; its control: `{in_pair.control}`" if in_pair.control else ""
        title = in_pair.title.replace("|", "\\|")
        yield f"| `{in_pair.name}` | {title}{control} | {', '.join(facts)} | {_in_words(in_pair)} |"


def _in_words(scenario: Scenario) -> str:
    return ", ".join([*claims_of(scenario), *(f"~{claim}" for claim in refuted_by(scenario))])


def _claims(scenarios: Sequence[Scenario]) -> Iterator[str]:
    carried = {claim for scenario in scenarios for claim in (*claims_of(scenario), *refuted_by(scenario))}
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
