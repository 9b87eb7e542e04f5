"""`docker/compose.yaml`, as one uses it by hand."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from rocketchaos.harness.cluster.readiness import why_not_ready
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.images import Images

pytestmark = pytest.mark.containers

FILE = Path(__file__).parents[2] / "docker" / "compose.yaml"
NAMESERVER, BROKER = "198.19.255.2:9876", "198.19.255.3:10911"
LIMIT_S = 120


def compose_command() -> list[str]:
    """The plugin, or the program of its own that came before it."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if (
            shutil.which(command[0])
            and subprocess.run([*command, "version"], capture_output=True).returncode == 0
        ):
            return command
    pytest.skip("neither `docker compose` nor `docker-compose` is here, so compose.yaml was not tried")


@pytest.fixture
def project(engine: Engine) -> Iterator[list[str]]:
    """The command for a project of its own, taken down in the end."""
    command = [*compose_command(), "--project-name", f"test{secrets.token_hex(4)}", "--file", str(FILE)]
    yield command
    subprocess.run([*command, "down", "--volumes"], check=True, capture_output=True, timeout=LIMIT_S)


@pytest.mark.nightly
def test_name_server_and_broker_come_up_and_are_taken_down(engine: Engine, project: list[str]) -> None:
    image = Images(engine, print).rocketmq("4.9.4")
    ended = subprocess.run(
        [*project, "up", "--detach"],
        env={**os.environ, "ROCKETMQ_IMAGE": image.name},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert ended.returncode == 0, ended.stderr
    Retrying(
        stop=stop_after_delay(LIMIT_S),
        wait=wait_fixed(0.5),
        retry=retry_if_result(lambda reason: reason is not None),
        retry_error_callback=lambda state: pytest.fail(f"after {LIMIT_S} s: {state.outcome}"),
    )(why_not_ready, NAMESERVER, BROKER, BROKER)

    label = {"label": f"com.docker.compose.project={project[project.index('--project-name') + 1]}"}
    containers = engine.client.containers.list(filters=label)
    assert len(containers) == 2
    # Nothing of it listens on an address of this host.
    assert [container.attrs["HostConfig"]["PortBindings"] for container in containers] in (
        [{}] * 2,
        [None] * 2,
    )

    subprocess.run([*project, "down", "--volumes"], check=True, capture_output=True, timeout=LIMIT_S)
    assert engine.client.containers.list(all=True, filters=label) == []
    assert engine.client.networks.list(filters=label) == []


def test_the_dashboard_is_published_on_loopback_alone(project: list[str]) -> None:
    ended = subprocess.run(
        [*project, "--profile", "dashboard", "config"], capture_output=True, text=True, timeout=LIMIT_S
    )
    assert ended.returncode == 0, ended.stderr
    assert "127.0.0.1" in ended.stdout
    assert "0.0.0.0" not in ended.stdout
