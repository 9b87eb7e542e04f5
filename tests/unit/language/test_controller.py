"""A cluster with a controller, as scenarios say it."""

from __future__ import annotations

import pytest

from rocketchaos.harness.cluster.cluster_kinds import CAN_NOT, ClusterKind
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.plan.feasibility import why_not
from rocketchaos.harness.rocketmq.name_server_settings import name_server_doubt
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario

TEXT = """\
name: example
title: an example
cluster: {{{cluster}}}
topics: {{orders: {{queues: 2}}}}
consumers:
  a: {{group: g, subscribe: {{orders: '*'}}}}
steps:
  - start: a
  - kill: broker-a
  - {step}
anomaly: {{delivered: {{to: a, count: 1}}}}
healthy: {{delivered: {{to: g, count: 8}}}}
"""
ELECTING = "slaves: broker-a, controller: true"


def scenario(cluster: str = ELECTING, step: str = "settle: {master: broker-a-slave}") -> Scenario:
    return parse_scenario(TEXT.format(cluster=cluster, step=step), "x.yaml")


def test_a_controller_needs_a_cluster_that_can_have_one_and_is_not_shared_with_others() -> None:
    made = scenario()
    assert made.required_capabilities == {"configure", "controller", "kill"}
    assert made.cluster.nodes == ("nameserver", "broker-a", "broker-a-slave")
    assert made.cluster.shape != scenario("slaves: broker-a").cluster.shape
    assert "controller" not in scenario("slaves: broker-a").required_capabilities
    assert "controller" in CAN_NOT[ClusterKind.CONTAINERS] - CAN_NOT[ClusterKind.EMBEDDED]


@pytest.mark.parametrize(
    ("version", "kind", "message"),
    [
        ("4.9.4", ClusterKind.EMBEDDED, "needs a controller, which RocketMQ 4.9.4 lacks: >=5.0 has it"),
        ("5.3.3", ClusterKind.CONTAINERS, "can't do: controller; `--on embedded` can"),
        ("5.0.0", ClusterKind.EMBEDDED, None),
    ],
)
def test_versions_before_5_and_containers_have_none(
    version: str, kind: ClusterKind, message: str | None
) -> None:
    reason = why_not(scenario(), version, kind)
    assert (reason is None) if message is None else (message in str(reason))


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        ("controller: true", "a controller elects a slave once its master is gone: write `slaves: broker-a`"),
        (f"{ELECTING}, proxy: local", "a proxy in mode LOCAL is in one process with its broker"),
        (
            f"{ELECTING}, broker: {{brokerRole: SYNC_MASTER}}",
            "the controller decides which node is the master",
        ),
        (
            f"{ELECTING}, one_broker: {{broker-a: {{brokerRole: SYNC_MASTER}}}}",
            "the controller decides which node is the master",
        ),
        (f"{ELECTING}, broker: {{controllerAddr: x}}", "`controller: true` of `cluster` starts one"),
        ("broker: {enableControllerMode: true}", "`controller: true` of `cluster` starts one"),
        ("namesrv: {enableControllerInNamesrv: true}", "`controller: true` of `cluster` starts one"),
        ("namesrv: {controllerDLegerSelfId: n1}", "controllerDLegerSelfId: the harness itself decides"),
    ],
)
def test_what_makes_no_sense_is_refused(cluster: str, message: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        scenario(cluster, "wait: 1s")
    assert message in str(refused.value) + "".join(getattr(refused.value, "lines", ()))


def test_a_master_that_comes_back_may_copy_only_with_a_controller() -> None:
    scenario(step="settle: {copied: broker-a}")
    with pytest.raises(UsageProblem, match="broker-a is no slave"):
        scenario("slaves: broker-a", "settle: {copied: broker-a}")
    with pytest.raises(UsageProblem, match="broker-a-slave"):
        scenario("own: true")


def test_the_controllers_own_settings_are_lines_of_namesrv_conf_where_there_is_one() -> None:
    assert name_server_doubt("enableElectUncleanMaster", value=True, controller=True) is None
    assert "have no setting" in str(name_server_doubt("enableElectUncleanMaster", value=True))
