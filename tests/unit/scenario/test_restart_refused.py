"""`restart: {…, may_be_refused: true}`: a server that ends as it starts."""

from __future__ import annotations

import pytest

from rocketchaos.harness.language.fault_registry import MAY_BE_REFUSED
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario

TEXT = """\
name: refused
title: a broker that doesn't start
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
steps:
  - start: a
  - restart: {targets: TARGETS, may_be_refused: true}
anomaly: {log: {node: broker-a, matches: boot success, count: 0}}
healthy: {log: {node: broker-a, matches: boot success, count: 1}}
"""


@pytest.mark.parametrize("targets", ["broker-a", "[a, broker-a]"])
def test_servers_may_be_refused(targets: str) -> None:
    scenario = parse_scenario(TEXT.replace("TARGETS", targets), "refused.scenario.yaml")
    assert scenario.steps[-1].model_dump()[MAY_BE_REFUSED] is True


@pytest.mark.parametrize("targets", ["a", "producer", "[a, producer]"])
def test_clients_have_it_elsewhere(targets: str) -> None:
    with pytest.raises(
        InvalidScenario, match="`may_be_refused` of `restart` is for servers: a consumer has it at"
    ):
        parse_scenario(TEXT.replace("TARGETS", targets), "refused.scenario.yaml")
