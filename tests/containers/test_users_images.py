"""Container images of a user's as consumers, on a real RocketMQ: an image is built here, as a user builds one."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.images import Images
from rocketchaos.harness.containers.labels import ROLE_LABEL
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.jars.java_compiler import compile_java, compiler_jars
from rocketchaos.harness.jars.java_home import find_java
from rocketchaos.harness.live import LiveRun
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.reporting.document import document
from rocketchaos.harness.scenario import load_scenario
from tests.containers.shop_texts import DOCKERFILE, MEMBER, ROLLING, RUN, SCENARIO, SEEN, TOLD
from tests.embedded.command import ROOT, rocketchaos, started
from tests.embedded.users_programs import built_by_maven, events_of, log_of, of_guide
from tests.waiting import until

pytestmark = [pytest.mark.containers, pytest.mark.timeout(300)]

SHOP = "rocketchaos-tests/shop"
WAYWARD = Path(__file__).parents[1] / "embedded" / "Wayward.java"
GUIDE_SHOP = "MODE=plain SAYS=handled GROUP=shop TAG=paid CONFIG=/dev/null"
"""Makes the program that of the guide."""
SENDS = """\
  - send: {topic: orders, tag: tagA, count: 4, per_queue: 1}
  - settle: {delivered: g, count: 4, topic: orders, within: 60s}
"""


@pytest.fixture(scope="module")
def shop(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Version 1.3, which wants tagA; version 1.4 wants tagB."""
    base = Images(engine, print).rocketmq("4.9.4").name
    context = tmp_path_factory.mktemp("shop")
    (context / "run").write_text(RUN)
    (context / "run").chmod(0o755)
    compile_java(
        [WAYWARD], find_java(), compiler_jars(print), classpath("4.9.4", "client"), context / "classes"
    )
    built = []
    for version, mode in (("1.3", "plain"), ("1.4", "differs")):
        text = DOCKERFILE.format(base=base, mode=mode)
        (context / "Dockerfile").write_text(text)
        built.append(f"{SHOP}:{version}")
        engine.client.images.build(path=str(context), tag=built[-1], rm=True)
    yield built[0]
    shutil.rmtree(context)
    for name in built:
        engine.client.images.remove(name, force=True)


@pytest.fixture(scope="module")
def runner(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """Has its processes already when a run begins."""
    options = Options(runs=tmp_path_factory.mktemp("runs"), use_running=False, on=ClusterKind.CONTAINERS)
    with Runner(options) as runner:
        yield runner


Write = Callable[..., Path]
Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def write(shop: str, tmp_path: Path) -> Write:
    """Writes a scenario with the image."""
    (tmp_path / "service.template").write_text("for $nameserver in $files")

    def of(
        steps: str = SENDS,
        mode: str = "",
        image: str = shop,
        ready: str = "{members: 1}",
        wrapped: str = "",
        within: str = "60s",
        text: str = SCENARIO,
    ) -> Path:
        given = {"IMAGE": image, "ARGS": mode, "READY": ready, "WRAPPING": wrapped, "WITHIN": within}
        given["STEPS\n"] = steps
        for old, new in given.items():
            text = text.replace(old, new)
        file = tmp_path / "own.scenario.yaml"
        file.write_text(text)
        return file

    return of


@pytest.fixture
def run(write: Write, runner: Runner, engine: Engine) -> Run:
    """Runs such a scenario: the exit code that a command would have, and the run as `--json` reports it."""

    def of(**given: str) -> tuple[int, dict[str, Any]]:
        told = document([runner.run(runner.job(load_scenario(write(**given))))])
        assert left(engine) == []
        return told["summary"]["exit_code"], told["runs"][0]

    return of


def left(engine: Engine) -> list[str]:
    """The containers of users' images that are there."""
    # One may go between the list and the look at each.
    found = engine.client.containers.list(
        all=True, filters={"label": f"{ROLE_LABEL}=program"}, ignore_removed=True
    )
    return [str(container.name) for container in found]


def test_its_lines_tell_what_it_handled_and_its_address_who_it_is(
    run: Run, engine: Engine, shop: str
) -> None:
    code, found = run(ready="{members: 1, log: '^mode plain'}")
    assert (code, found["outcome"], found["trouble"]) == (1, "not-reproduced", None), found["reason"]
    received = events_of(found, "received")
    assert sorted(item["key"] for item in received) == [f"orders-{number}" for number in range(1, 5)]
    assert {item["line"] for item in received} == {f"got orders-{number}" for number in range(1, 5)}
    (begun,) = events_of(found, "consumer-started")
    assert (begun["client"], begun["client_version"]) == ("image", "4.9.4")
    assert (begun["filters_by"], begun["tells_queues"]) == ("stored", True)
    (told,) = events_of(found, "program-subscription")
    assert told["subscribe"] == {"orders": "tagA"}
    assert "mode plain in image of null" in log_of(found)
    assert "config for 198.1" in log_of(found)
    assert ":9876 in /rocketchaos/files" in log_of(found)
    record = json.loads((Path(found["run_dir"]) / "run.json").read_text())
    assert record["cluster"]["images"][shop] == engine.client.images.get(shop).id


def test_all_faults_act_on_it(run: Run) -> None:
    steps = """\
  - partition: {between: a, and: [broker-a, nameserver]}
  - heal: all
  - pause: a
  - resume: a
  - kill: a
  - start: a
  - settle: {ownership: g, within: 180s}
  - terminate: a
  - start: a
  - settle: {ownership: g, within: 180s}
"""
    code, found = run(steps=SENDS + steps)
    assert (code, found["outcome"], found["trouble"]) == (1, "not-reproduced", None), found["reason"]
    proofs = {item["fault"]: item["proof"] for item in events_of(found, "fault-effective")}
    assert set(proofs) == {"partition", "pause", "kill", "terminate"}
    assert "packets dropped" in proofs["partition"]
    # Java's own exit code after SIGTERM.
    assert "has shut its client down and ended with exit code 143" in proofs["terminate"]


GUIDE_TAIL = """\
steps:
  - start: shop-1
  - settle: {ownership: shop, within: 60s}
  - send: {topic: orders, tag: paid, count: 8, per_queue: 2}
  - settle: {delivered: shop, count: 8, topic: orders, within: 60s}
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: shop, count: 8}}]
expected: {image: not-reproduced}
"""


def test_the_image_of_the_guide(engine: Engine, shop: str, tmp_path: Path) -> None:
    block = of_guide("image: registry")
    name = yaml.safe_load(block)["consumers"]["shop-1"]["app"]["image"]
    (tmp_path / "Dockerfile").write_text(f"FROM {shop}\nENV {GUIDE_SHOP}\n")
    engine.client.images.build(path=str(tmp_path), tag=name, rm=True)
    head = "name: shop\ntitle: an image of the guide\ntopics: {orders: {queues: 4}}\n"
    (tmp_path / "shop.scenario.yaml").write_text(head + block + GUIDE_TAIL)
    try:
        ended = rocketchaos(
            "run", "shop.scenario.yaml", "--on", "containers", "--json", cwd=tmp_path, limit_s=280
        )
    finally:
        engine.client.images.remove(name, force=True)
    (found,) = ended.document["runs"]
    assert (ended.code, found["outcome"], found["trouble"]) == (0, "not-reproduced", None), found["reason"]


def test_a_rolling_deployment_from_one_version_to_the_next(run: Run) -> None:
    code, found = run(text=ROLLING)
    assert (code, found["outcome"], found["trouble"]) == (0, "reproduced", None), found["reason"]
    told = [item["subscribe"] for item in events_of(found, "program-subscription")]
    assert told == [{"orders": "tagA"}, {"orders": "tagB"}]


def test_what_they_write_or_list_is_each_one_s_by_its_address(run: Run) -> None:
    members = "".join(
        MEMBER.replace("MODE", mode).replace("SEEN", sees).replace("NUMBER", number)
        for mode, sees in SEEN.items()
        for number in ("1", "2")
    )
    code, found = run(text=TOLD.replace("MEMBERS\n", members))
    assert (code, found["outcome"], found["trouble"]) == (0, "not-reproduced", None), found["reason"]
    said = (Path(found["run_dir"]) / "START-HERE.md").read_text()
    for mode in SEEN:
        # Which of the two has the first queues is the order of their addresses as texts.
        two = r"8 \(from broker-a:\d, broker-a:\d\)"
        assert re.search(rf"{mode}-1 {two}, {mode}-2 {two}", said), said


@pytest.mark.nightly
def test_megabytes_that_it_prints_cost_no_line(run: Run) -> None:
    settled = "  - settle: {offsets: g, topic: orders, lag: 0, within: 60s}\n"
    _, found = run(steps=SENDS + settled, mode="prints")
    assert (found["outcome"], found["trouble"]) == ("not-reproduced", None), found["reason"]
    # What its output holds back is on its way: a megabyte in the engine, and two pipes.
    assert len(log_of(found)) > 4 * 40_000 * 101 - 2_000_000


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mode": "ends"}, ["the program of a has ended: exit code 1", "no database"]),
        pytest.param(
            {"mode": "stranger", "within": "20s"},
            ["not become a member of its group g", "its last line: 'mode stranger"],
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            {"ready": "{port: 1}", "within": "20s"},
            ["but not `ready` within 20 s: no process accepts connections on port 1"],
            marks=pytest.mark.nightly,
        ),
        (
            {"image": "registry.invalid/shop:1.4"},
            ["the engine has no image registry.invalid/shop:1.4, and can't pull it", "docker build -t"],
        ),
    ],
    ids=["ends", "stranger", "port", "no-image"],
)
def test_one_that_is_never_ready_is_one_message(
    write: Write, engine: Engine, tmp_path: Path, given: dict[str, str], words: list[str]
) -> None:
    ended = rocketchaos("run", write(**given), "--on", "containers", "--json", cwd=tmp_path, limit_s=280)
    assert left(engine) == []
    (found,) = ended.document["runs"]
    assert (ended.code, found["outcome"]) == (4, "error"), found["reason"]
    for word in words:
        assert word in found["reason"] + ended.err


def test_an_entrypoint_that_is_not_there_is_one_message(
    run: Run, engine: Engine, shop: str, tmp_path: Path
) -> None:
    (tmp_path / "Dockerfile").write_text(f'FROM {shop}\nENTRYPOINT ["/shop/none"]\n')
    engine.client.images.build(path=str(tmp_path), tag=f"{SHOP}:broken", rm=True)
    try:
        code, found = run(image=f"{SHOP}:broken")
    finally:
        engine.client.images.remove(f"{SHOP}:broken", force=True)
    assert (code, found["outcome"]) == (4, "error"), found["reason"]
    assert f"the container of a can't be started from the image {SHOP}:broken: " in found["reason"]
    assert "/shop/none" in found["reason"]


@pytest.mark.nightly
def test_a_first_process_without_a_handler_outlives_sigterm(run: Run) -> None:
    code, found = run(steps=SENDS + "  - terminate: a\n", wrapped="yes")
    assert (code, found["outcome"]) == (3, "inconclusive")
    assert "got SIGTERM 40 s ago and has not ended" in found["reason"]
    assert "ends on SIGTERM only if it has a handler" in found["reason"]


def test_it_does_not_outlive_the_harness(write: Write, engine: Engine, tmp_path: Path) -> None:
    steps = SENDS + '  - wait: {duration: 200s, because: "the harness dies meanwhile"}\n'
    with started("run", write(steps=steps), "--on", "containers", cwd=tmp_path) as process:
        until(lambda: left(engine) != [])
        process.kill()
    until(lambda: left(engine) == [])


def test_in_pytest_it_is_declared_in_one_line(shop: str, tmp_path: Path) -> None:
    options = Options(runs=tmp_path, use_running=False, on=ClusterKind.CONTAINERS)
    with Runner(options) as runner, LiveRun(runner, "own") as rocketmq:
        rocketmq.topic("orders", queues=4)
        rocketmq.app(
            "a",
            image=shop,
            args=["plain"],
            sees={"log": r"got (?P<key>\S+)"},
            env={"NAMESRV": "$nameserver"},
            group="g",
            subscribe={"orders": "tagA"},
        )
        rocketmq.start("a")
        rocketmq.settle(ownership="g", within="60s")
        rocketmq.send(topic="orders", tag="tagA", count=4, per_queue=1)
        rocketmq.settle(delivered="g", count=4, topic="orders", within="60s")
        rocketmq.check.delivered(to="a", count=4)


@pytest.mark.skipif(shutil.which("mvn") is None, reason="needs Maven: apt install maven")
def test_the_example_deploys_one_image_after_the_other(engine: Engine, tmp_path: Path) -> None:
    examples = ROOT / "examples"
    for name in ("java-service", "container-service"):
        shutil.copytree(
            examples / name, tmp_path / name, ignore=shutil.ignore_patterns("target", "runs", "*.class")
        )
    built_by_maven(tmp_path / "java-service")
    folder = tmp_path / "container-service"
    shutil.copy(folder / "Dockerfile", tmp_path / "java-service")
    base = Images(engine, print).rocketmq("4.9.4").name
    images = {"billing:1": "paid", "billing:2": "paid || refunded"}
    try:
        for image, tags in images.items():
            engine.client.images.build(
                path=str(tmp_path / "java-service"),
                tag=image,
                rm=True,
                buildargs={"BASE": base, "TAGS": tags},
            )
        ended = rocketchaos("run", ".", "--on", "containers", "--json", cwd=folder, limit_s=280)
    finally:
        for image in images:
            engine.client.images.remove(image, force=True)
    (found,) = ended.document["runs"]
    assert (ended.code, found["outcome"], found["trouble"]) == (0, "reproduced", None), found["reason"]
