"""What servers get where a controller elects masters, and when a node is in sync."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.cluster import ports
from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.cluster.readiness import check_controller_settings, why_not_in_sync
from rocketchaos.harness.cluster.server import Server
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED, FAITHFUL, TimingProfile

NEEDS = ClusterNeeds(slaves=("broker-a",), name_servers=2, controller=True)
PORTS = ports.ServerPorts([20001, 20002], [20010, 20020], None, 20030)


def laid_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, timing: TimingProfile, needs: ClusterNeeds = NEEDS
) -> dict[str, dict[str, str]]:
    """The settings of each server, by node."""
    cluster = EmbeddedCluster("5.3.3", timing, folder, owner="o", needs=needs)
    monkeypatch.setattr(ports, "choose", lambda *_args, **_more: PORTS)
    monkeypatch.setattr(EmbeddedCluster, "_command", lambda *_args: [])
    monkeypatch.setattr(EmbeddedCluster, "_require_disk", lambda _cluster: None)
    servers: list[Server] = list(cluster._lay_out())
    assert cluster.controller == ("127.0.0.1:20030" if needs.controller else None)
    return {server.name: settings_of(server.folder) for server in servers}


def settings_of(folder: Path) -> dict[str, str]:
    (file,) = [name for name in ("namesrv.properties", "broker.conf") if (folder / name).exists()]
    lines = (folder / file).read_text().splitlines()
    return {key: value.replace("\\", "") for key, _, value in (line.partition("=") for line in lines)}


def test_the_first_name_server_is_the_controller_and_brokers_ask_it_for_their_role(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = laid_out(tmp_path / "c", monkeypatch, COMPRESSED)
    first = made["nameserver"]
    assert (first["enableControllerInNamesrv"], first["controllerDLegerSelfId"]) == ("true", "n0")
    assert first["controllerDLegerPeers"] == "n0-127.0.0.1:20030"
    assert first["controllerStorePath"] == str(tmp_path / "c" / "nameserver" / "controller")
    assert first["scanNotActiveBrokerInterval"] == "1000"
    assert "enableControllerInNamesrv" not in made["nameserver-2"]
    for broker in (made["broker-a"], made["broker-a-slave"]):
        assert (broker["brokerName"], broker["brokerId"], broker["brokerRole"]) == ("broker-a", "-1", "SLAVE")
        assert (broker["enableControllerMode"], broker["controllerAddr"]) == ("true", "127.0.0.1:20030")
        assert broker["syncBrokerMetadataPeriod"] == "1000"


def test_faithful_timing_leaves_rocketmqs_own_timers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = laid_out(tmp_path / "c", monkeypatch, FAITHFUL)
    assert not {"scanNotActiveBrokerInterval", "syncBrokerMetadataPeriod"} & {
        *made["nameserver"],
        *made["broker-a"],
    }


def test_without_a_controller_slaves_are_slaves_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = NEEDS.model_copy(update={"controller": False})
    monkeypatch.setattr("tests.unit.cluster.test_controller.PORTS", ports.ServerPorts([1, 2], [10010, 10020]))
    made = laid_out(tmp_path / "c", monkeypatch, COMPRESSED, without)
    assert made["broker-a"]["brokerId"] == "0"
    assert (made["broker-a-slave"]["brokerId"], made["broker-a-slave"]["brokerRole"]) == ("1", "SLAVE")
    assert not {"controllerAddr", "syncBrokerMetadataPeriod"} & made["broker-a"].keys()
    assert "controllerDLegerPeers" not in made["nameserver"]


def test_no_4_9_has_a_controller(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"RocketMQ 4\.9\.4 has no controller"):
        EmbeddedCluster("4.9.4", COMPRESSED, tmp_path, owner="o", needs=NEEDS)


NEW = {"replicasInfoTable": {"broker-a": {"inSyncReplicas": [{"brokerId": 1, "brokerAddress": "h:1"}]}}}
OLD = {"inSyncStateTable": {"broker-a": {"inSyncMembers": [{"brokerId": 0, "address": "h:1"}]}}}


@pytest.mark.parametrize(
    ("body", "address", "reason"),
    [
        (NEW, "h:1", None),
        (OLD, "h:1", None),
        (NEW, "h:2", "it isn't in the controller's syncStateSet"),
        (OLD, "h:2", "it isn't in the controller's syncStateSet"),
        ({"replicasInfoTable": {}}, "h:1", "it isn't in the controller's syncStateSet"),
        (None, "h:1", "it isn't in the controller's syncStateSet"),
    ],
)
def test_a_node_is_in_sync_once_the_controller_says_so(
    monkeypatch: pytest.MonkeyPatch, body: Any, address: str, reason: str | None
) -> None:
    text = b"" if body is None else json.dumps(body).encode()
    monkeypatch.setattr(remoting, "ask", lambda *_args, **_more: remoting.Answer(0, "", {}, text))
    assert why_not_in_sync("h:9", "broker-a", address) == reason


def test_a_controller_that_does_not_answer_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_args: object, **_more: object) -> remoting.Answer:
        raise OSError("connection refused")

    monkeypatch.setattr(remoting, "ask", ask)
    assert why_not_in_sync("h:9", "broker-a", "h:1") == "the controller doesn't answer (connection refused)"


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        ({}, None),
        ({"enableElectUncleanMaster": "true"}, None),
        ({"enableElectUncleanMaster": "false"}, "it runs with true"),
        ({"scanInactiveMasterInterval": "9"}, "there is no such setting"),
    ],
)
def test_a_controller_is_asked_whether_it_took_its_settings(
    monkeypatch: pytest.MonkeyPatch, wanted: dict[str, str], complaint: str | None
) -> None:
    body = b"enableElectUncleanMaster=true\nelectMasterMaxRetryCount=3\n"
    monkeypatch.setattr(remoting, "ask", lambda *_args, **_more: remoting.Answer(0, "", {}, body))
    if complaint is None:
        check_controller_settings("h:9", wanted)
    else:
        with pytest.raises(UsageProblem, match=complaint):
            check_controller_settings("h:9", wanted)
