"""Numbers of `MQVersion.Version`, read from the jars of 4.9.0 to 5.5.0."""

from __future__ import annotations

import pytest

from rocketchaos.harness.rocketmq.client_version import version_name


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (212, "4.0.0-SNAPSHOT"),
        (213, "4.0.0"),
        (393, "4.9.0"),
        (401, "4.9.4"),
        (413, "5.0.0"),
        (513, "5.5.0"),
        (611, "5.9.9"),
        (0, None),
        (211, None),
        (612, None),
    ],
)
def test_a_number_is_a_version(number: int, name: str | None) -> None:
    assert version_name(number) == name
