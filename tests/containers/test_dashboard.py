"""A real dashboard beside real brokers: asked by the client, and as the third witness of shipped scenarios.

Where the engine has no image of a dashboard, and can't pull one, that version's tests are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rocketchaos.harness.clients.dashboard import (
    Dashboard,
    DashboardRefused,
    Flavour,
    dashboard_at,
    why_not_ready,
)
from rocketchaos.harness.cluster.container_cluster import ContainersCluster
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.images import Images
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.reaper.reaper import Reaper, new_owner
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from tests.embedded.command import ROOT, rocketchaos

pytestmark = pytest.mark.containers

FLAVOURS = {"1.0.0": Flavour.ONE, "2.1.0": Flavour.TWO}
SCENARIOS = (
    ("consumed-and-nobody-got-it", "4.9.4", "1.0.0"),
    ("consumed-and-somebody-got-it", "4.9.4", "1.0.0"),
    ("dashboard-1-knows-the-tracks-of-4-9", "4.9.4", "1.0.0"),
    ("dashboard-2-knows-no-track-of-4-9", "4.9.4", "2.1.0"),
    ("host-name-and-nothing-is-consumed", "4.9.4", "1.0.0"),
    ("consumed-and-nobody-got-it", "5.5.0", "2.1.0"),
    ("only-groups-are-listed", "5.5.0", "2.1.0"),
    ("topic-listed-as-a-group", "5.3.3", "2.1.0"),
)
"""With the versions of RocketMQ and of its dashboard."""


def need_images(engine: Engine, rocketmq: str, dashboard: str) -> None:
    """Leave the test out where an image can't be had; the reason names it."""
    images = Images(engine, print)
    try:
        images.dashboard(dashboard)
        images.rocketmq(rocketmq)
    except EnvironmentNotReady as refusal:
        pytest.skip(refusal.message)


@pytest.fixture(scope="module", params=[("4.9.4", "1.0.0"), ("5.5.0", "2.1.0")], ids="-".join)
def asked(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[tuple[Dashboard, str]]:
    """A dashboard that fits its broker, and the broker's address."""
    rocketmq, version = request.param
    need_images(engine, rocketmq, version)
    owner = new_owner()
    cluster = ContainersCluster(
        rocketmq,
        COMPRESSED,
        tmp_path_factory.mktemp("cluster"),
        owner=owner,
        engine=engine,
        images=Images(engine, print),
        needs=ClusterNeeds(dashboard=version),
    )
    with ExitStack() as stack:
        reaper = stack.enter_context(Reaper.start())
        reaper.watch_engine(engine.base_url)
        reaper.watch(owner)
        stack.callback(cluster.stop)
        cluster.start()
        assert cluster.dashboard is not None
        dashboard = dashboard_at(cluster.dashboard)
        assert dashboard.flavour is FLAVOURS[version]
        yield dashboard, next(node.address for node in cluster.nodes if node.is_master)


def test_once_the_cluster_is_up_it_knows_the_broker_and_its_page_is_on_loopback(
    asked: tuple[Dashboard, str],
) -> None:
    dashboard, _ = asked
    assert urlsplit(dashboard.url).hostname == "127.0.0.1"
    assert why_not_ready(dashboard.url) is None
    assert "TOOLS_CONSUMER" in {group.group for group in dashboard.groups()}


def test_it_refuses_what_there_is_not(asked: tuple[Dashboard, str]) -> None:
    dashboard, broker = asked
    with pytest.raises(DashboardRefused, match=r"CODE: (206|17) "):
        dashboard.connections("no-such-group", [broker])
    with pytest.raises(
        DashboardRefused, match="Failed to query message by Id: 7F0000010000000000000000DEAD0000"
    ):
        dashboard.tracks("no-such-topic", "7F0000010000000000000000DEAD0000")


@pytest.mark.parametrize(("scenario", "rocketmq", "dashboard"), SCENARIOS, ids=lambda item: str(item))
def test_a_shipped_scenario_with_a_dashboard_ends_as_expected(
    scenario: str, rocketmq: str, dashboard: str, engine: Engine, tmp_path: Path
) -> None:
    need_images(engine, rocketmq, dashboard)
    file = ROOT / "scenarios" / "dashboard" / f"{scenario}.scenario.yaml"
    done = rocketchaos("run", file, "--on", "containers", "--rocketmq", rocketmq, "--json", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    (run,) = done.document["runs"]
    events = (Path(run["run_dir"]) / "events.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = {json.loads(line)["kind"] for line in events}
    shown = {f"dashboard-{what}-observed" for what in ("tracks", "connections", "progress")}
    assert shown <= kinds
