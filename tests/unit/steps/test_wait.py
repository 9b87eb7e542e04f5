"""`wait` in some runs of a matrix alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.steps.context import StepContext
from rocketchaos.harness.steps.wait import Wait


@pytest.mark.parametrize(
    ("where", "waits"),
    [
        ({}, True),
        ({"where": {"client": "grpc"}}, True),
        ({"where": {"client": ["java", "python"]}}, False),
        ({"where": {"client": "grpc", "rocketmq": "<5"}}, False),
    ],
)
def test_it_waits_where_it_should(where: dict[str, Any], waits: bool) -> None:
    waited: list[int] = []
    context = SimpleNamespace(
        scenario=SimpleNamespace(client_label="grpc"),
        servers=SimpleNamespace(cluster=SimpleNamespace(version="5.5.0")),
        let_time_pass=waited.append,
    )
    Wait.model_validate({"duration": "2s", **where}).run(cast(StepContext, context))
    assert waited == ([2000] if waits else [])
