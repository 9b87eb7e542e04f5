"""The list of all that there is to use."""

from __future__ import annotations

from rocketchaos.harness.cli.capabilities import REGISTRIES, capabilities


def test_every_registry_has_a_part_in_the_list() -> None:
    lines = list(capabilities())
    assert {line.split()[0] for line in lines} == set(REGISTRIES)
    assert len(lines) == len(set(lines))
    assert {"command reproduce", "report timing", "step kill", "condition sealed", "check delivered"} <= set(
        lines
    )
