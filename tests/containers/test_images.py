"""The images that `make images` builds, and the official ones where they are: they keep the same contract."""

from __future__ import annotations

import importlib
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import requests
from docker.errors import ImageNotFound
from docker.models.containers import Container
from tenacity import Retrying, retry_if_exception_type, retry_if_result, stop_after_delay, wait_fixed

from rocketchaos.harness.cluster.readiness import why_not_ready
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.images import Image, Images, Names
from rocketchaos.harness.containers.labels import labels_of
from rocketchaos.harness.containers.launch import ContainerPlan, Subnet, make_network, start
from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.rocketmq import remoting

pytestmark = pytest.mark.containers

VERSIONS = ["4.9.4", "5.5.0"]
LIMIT_S = 90.0
REMOTING, GRPC = 8080, 8081
HEAP = "-Xms64m -Xmx222m -Drocketchaos.test=yes"


def until(condition: Callable[[], object]) -> None:
    """Wait until it says nothing; then what it said last is the error."""
    Retrying(
        stop=stop_after_delay(LIMIT_S),
        wait=wait_fixed(0.2),
        retry=retry_if_result(lambda reason: reason is not None) | retry_if_exception_type(OSError),
        retry_error_callback=lambda state: pytest.fail(f"after {LIMIT_S} s: {state.outcome}"),
    )(condition)


@dataclass
class Net:
    """A network of a test's own; nothing on it is left after the test."""

    engine: Engine
    owner: str
    subnet: Subnet
    folder: Path

    def run(self, image: Image, role: str, index: int, *command: str, **more: Any) -> Container:
        plan = ContainerPlan(
            image.name,
            f"{self.owner}-{role}",
            labels_of(self.owner, role, "tests"),
            command=command or None,
            environment={"JAVA_OPT_EXT": HEAP},
            mounts={self.folder: ("/given", "ro")},
            subnet=self.subnet,
            address=self.subnet.address(index),
        )
        return start(self.engine, replace(plan, **more))


@pytest.fixture
def net(engine: Engine, tmp_path: Path) -> Iterator[Net]:
    owner = f"rocketchaos-test-{secrets.token_hex(4)}"
    subnet = make_network(engine, owner, labels_of(owner, "network", "tests"))
    tmp_path.chmod(0o755)
    try:
        yield Net(engine, owner, subnet, tmp_path)
    finally:
        for container in engine.client.containers.list(all=True, filters={"name": owner}):
            container.remove(v=True, force=True)
        subnet.network.remove()


@pytest.fixture
def images(engine: Engine) -> Images:
    return Images(engine, print)


def command_line(container: Container) -> str:
    """That of the JVM in it, whatever starts it."""
    lines = [" ".join(process) for process in container.top(ps_args="-ww -o pid,args")["Processes"]]
    return next(line for line in lines if "java" in line and " -cp " in line)


def last_heap(line: str) -> str:
    """The JVM takes the last one."""
    return [word for word in line.split() if word.startswith("-Xmx")][-1]


@pytest.mark.parametrize("version", ["4.9.4", pytest.param("5.5.0", marks=pytest.mark.nightly)])
def test_servers_keep_the_official_contract(images: Images, net: Net, version: str) -> None:
    image = images.rocketmq(version)
    assert image.user == "rocketmq"
    assert image.rocketmq_home == f"/home/rocketmq/rocketmq-{version}"
    nameserver, broker = f"{net.subnet.address(2)}:9876", f"{net.subnet.address(3)}:10911"
    (net.folder / "namesrv.conf").write_text("listenPort=9876\n")
    (net.folder / "broker.conf").write_text(
        f"brokerName=b\nbrokerIP1={net.subnet.address(3)}\nnamesrvAddr={nameserver}\n"
        f"mappedFileSizeCommitLog={2**24}\n"
    )
    servers = [
        net.run(image, "nameserver", 2, "sh", "mqnamesrv", "-c", "/given/namesrv.conf"),
        net.run(image, "broker", 3, "sh", "mqbroker", "-c", "/given/broker.conf"),
    ]
    until(lambda: why_not_ready(nameserver, broker, broker))

    # JAVA_OPT_EXT wins, and the file was read.
    for server in servers:
        assert last_heap(command_line(server)) == "-Xmx222m"
        assert "-Drocketchaos.test=yes" in command_line(server)
        assert server.exec_run(["sh", "-c", "cd && touch writable && pwd"]).output == b"/home/rocketmq\n"
        assert server.exec_run(["pwd"]).output.decode().strip() == f"{image.rocketmq_home}/bin"
    settings = remoting.ask(broker, remoting.GET_BROKER_CONFIG).body.decode()
    assert f"mappedFileSizeCommitLog={2**24}" in settings
    assert f"rocketmqHome={image.rocketmq_home}" in settings
    # The log is where the official image has it.
    log = servers[1].exec_run(["cat", "/home/rocketmq/logs/rocketmqlogs/broker.log"])
    assert b"boot success" in log.output
    if version.startswith("5."):
        proxy = net.run(image, "proxy", 4, "sh", "mqproxy", "-n", nameserver, "-pm", "cluster")
        for port in (REMOTING, GRPC):
            until(lambda port=port: remoting.connect(f"{net.subnet.address(4)}:{port}", 1.0).close())
        assert "-Drocketchaos.test=yes" in command_line(proxy)


def test_a_given_log_configuration_counts(images: Images, net: Net) -> None:
    """Where a 4.9.x broker looks for it; the cluster's own is put there the same way."""
    image = images.rocketmq("4.9.4")
    (net.folder / "logback.xml").write_text(
        '<configuration><appender name="c" class="ch.qos.logback.core.ConsoleAppender"><encoder>'
        "<pattern>GIVEN %m%n</pattern></encoder></appender>"
        '<root level="INFO"><appender-ref ref="c"/></root></configuration>'
    )
    place = f"{image.rocketmq_home}/conf/logback_namesrv.xml"
    mounts = {net.folder / "logback.xml": (place, "ro")}
    nameserver = net.run(image, "nameserver", 2, "sh", "mqnamesrv", mounts=mounts)
    until(lambda: None if b"GIVEN" in nameserver.logs() else nameserver.logs()[-300:])


def test_a_worker_s_image_has_its_tools_and_nothing_of_ours(images: Images, net: Net) -> None:
    container = net.run(images.worker(), "worker", 2, "sleep", "60", capabilities=["NET_ADMIN"])

    def run(*command: str) -> str:
        ended = container.exec_run(list(command))
        assert ended.exit_code == 0, ended.output
        return str(ended.output.decode())

    python = (
        "import sys, jpype, psutil; jpype.startJVM(); print(sys.version_info[1], jpype.getJVMVersion()[0])"
    )
    minor, java = map(int, run("python3", "-c", python).split())
    assert minor >= 11
    assert java >= 17
    run("iptables", "-w", "-A", "OUTPUT", "-d", "198.51.100.1", "-j", "DROP")
    assert "198.51.100.1" in run("iptables", "-S", "OUTPUT")
    assert "qdisc" in run("tc", "qdisc", "show")
    assert container.exec_run(["python3", "-c", "import rocketchaos"]).exit_code == 1


def test_toxiproxy_answers(images: Images, net: Net) -> None:
    try:
        image = images.toxiproxy()
    except EnvironmentNotReady as refusal:
        pytest.skip(refusal.message)
    net.run(image, "toxiproxy", 2)
    url = f"http://{net.subnet.address(2)}:8474/version"
    until(lambda: None if requests.get(url, timeout=2).ok else "no answer")


def test_a_registry_that_nobody_reaches_is_given_up_soon(engine: Engine) -> None:
    began_s = time.monotonic()
    with pytest.raises(EnvironmentNotReady, match=r"127\.0\.0\.1:1/nothing .*refused") as raised:
        Images(engine, print, {"ROCKETCHAOS_IMAGE_WORKER": "127.0.0.1:1/nothing"}).worker()
    assert time.monotonic() - began_s < 10
    assert "make images" in raised.value.hint


def test_what_can_be_no_image_s_name_is_the_user_s_mistake(engine: Engine) -> None:
    with pytest.raises(UsageProblem, match="Capital"):
        Images(engine, print, {"ROCKETCHAOS_IMAGE_WORKER": "Capital:1"}).worker()


@pytest.fixture(scope="module")
def program() -> ModuleType:
    """`docker/build_images.py`, which is of no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "docker"))
        return importlib.import_module("build_images")


@pytest.fixture
def tiny(
    engine: Engine, program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Any]]:
    """An image of one file, whose official counterpart is in a registry that nobody reaches."""
    name = f"rocketchaos/test-{secrets.token_hex(4)}:1"
    monkeypatch.setattr(program, "NAMES", {"toxiproxy": Names("127.0.0.1:1/official:1", name)})
    (tmp_path / "Dockerfile").write_text(
        "FROM scratch\nARG CONTENT\nCOPY file /file\nENV CONTENT=${CONTENT}\n"
    )
    (tmp_path / "file").write_text("first")

    def recipe(content: str = "1") -> Any:
        files = {file.name: file for file in tmp_path.iterdir()}
        return program.Recipe("toxiproxy", "", files, arguments={"CONTENT": content}, has_base=False)

    yield recipe
    engine.client.images.remove(name)


def test_an_image_is_built_where_it_is_missing_and_again_when_its_inputs_change(
    engine: Engine,
    program: ModuleType,
    tiny: Callable[..., Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    builder = program.Builder(engine)

    def made(recipe: Any) -> str:
        builder.make(recipe)
        return str(engine.client.images.get(recipe.name).id)

    first = made(tiny())
    assert "127.0.0.1:1/official:1: not available" in capsys.readouterr().err
    assert made(tiny()) == first
    assert capsys.readouterr().err.endswith("up to date\n")
    (tmp_path / "file").write_text("second")
    second = made(tiny())
    (tmp_path / "file").chmod(0o755)
    third = made(tiny())
    fourth = made(tiny("2"))
    assert len({first, second, third, fourth}) == 4
    assert "pulling" not in capsys.readouterr().err
    for replaced in (first, second, third):
        with pytest.raises(ImageNotFound):
            engine.client.images.get(replaced)


def test_a_build_that_fails_says_what_it_printed(
    engine: Engine, program: ModuleType, tiny: Callable[..., Any], tmp_path: Path
) -> None:
    builder = program.Builder(engine)
    builder.make(tiny())
    (tmp_path / "Dockerfile").write_text("FROM scratch\nCOPY gone /gone\n")
    with pytest.raises(EnvironmentNotReady, match=r"can't be built: .*gone"):
        builder.make(tiny())


def test_make_images_is_quick_where_nothing_is_missing(
    program: ModuleType, images: Images, capsys: pytest.CaptureFixture[str]
) -> None:
    for version in VERSIONS:
        images.rocketmq(version)
    began_s = time.process_time()
    assert program.main([]) == 0
    # Of work; 1 s. What would be waiting for is asserted below, whatever else runs on this machine.
    assert time.process_time() - began_s < 3
    said = capsys.readouterr().err
    assert "building" not in said
    assert "pulling" not in said
