"""What is put into brokers: compiled by whatever Java is there, and a pull that meets it is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocketchaos.harness.cluster import hooks
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.jars import artifacts
from rocketchaos.harness.jars.java_home import find_java
from tests.embedded.command import ROOT, rocketchaos

pytestmark = [pytest.mark.embedded, pytest.mark.extended]
SCENARIO = ROOT / "scenarios" / "pull" / "flow-control-is-tried-again-at-once.scenario.yaml"


def compiled(source: Path) -> Path:
    jars = artifacts.classpath("4.9.4", "server")
    return hooks.hook_classes(source, "4.9.4", find_java(), jars, print)


def test_the_classes_are_made_once_and_named_for_the_broker() -> None:
    folder = compiled(hooks.FLOW_CONTROL)
    assert (folder / "rocketchaos" / "FlowControl.class").is_file()
    service = folder / "META-INF" / "service" / "org.apache.rocketmq.remoting.RPCHook"
    assert service.read_text() == "rocketchaos.FlowControl\n"
    made = folder.stat().st_ctime_ns
    assert compiled(hooks.FLOW_CONTROL).stat().st_ctime_ns == made


def test_what_the_compiler_refuses_is_reported_and_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "Broken.java"
    source.write_text("package rocketchaos; public class Broken implements Nothing {}")
    with pytest.raises(EnvironmentNotReady, match=r"Broken\.java can't be compiled .*(?s:.*)Nothing"):
        compiled(source)
    assert not list(hooks.FLOW_CONTROL.parent.glob("Broken*"))
    with pytest.raises(EnvironmentNotReady, match=r"Broken\.java can't be compiled"):
        compiled(source)


@pytest.mark.nightly
def test_a_broker_with_the_hook_limits_pulls(tmp_path: Path) -> None:
    ended = rocketchaos("run", SCENARIO, "--json", cwd=tmp_path)
    (run,) = ended.document["runs"]
    assert (ended.code, run["outcome"]) == (0, "not-reproduced"), json.dumps(run["checks"])
    assert [item["passed"] for item in run["checks"] if item["refutes"] == "F15"] == [True]
    # ResponseCode.FLOW_CONTROL, in the client's own words.
    logs = (Path(run["run_dir"]) / "logs" / "a").glob("rocketmq_client*.log")
    assert any("CODE: 215" in log.read_text(encoding="utf-8") for log in logs)
