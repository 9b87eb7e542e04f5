"""What RocketMQ's dashboard shows of a group, beside a diagnosis: of a jar that the user brings."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import requests

from rocketchaos.harness.clients.dashboard import Dashboard, DashboardRefused, dashboard_at, why_not_ready
from rocketchaos.harness.cluster import ports
from rocketchaos.harness.cluster.server_process import ServerProcess
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.jars.java_home import find_java
from rocketchaos.harness.reaper.reaper import Reaper

_START_LIMIT_S = 60.0
_MESSAGES_AT_MOST = 20
"""So many tracks are asked for at most."""
_REFUSAL = re.compile(r"CODE: \d+ +DESC: ?[^\[\]\n:]{1,60}")
"""The part of an error that names nobody."""


class _DashboardProcess(ServerProcess):
    """The dashboard as a JVM of this host; up once its list of groups is there."""

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def why_not_up(self) -> str | None:
        return self.exit_reason() or why_not_ready(self.url)


def said(jar: Path, name_server: str, group: str, topics: Sequence[str], brokers: Sequence[str]) -> str:
    """What it shows of a group, its subscriptions and queues, and of the topics' messages.

    Args:
        jar: the dashboard's: 1.0.0 for 4.9.x, 2.x for 5.x.
        name_server: `host:port`, several with `;` between them: it asks the first.
        group: the real name; likewise the topics'.
        topics: those that the group may consume.
        brokers: the addresses of the group's brokers.

    Raises:
        EnvironmentNotReady: it doesn't start, or doesn't answer.
    """
    with _running(jar, name_server.partition(";")[0]) as url:
        return of_group(dashboard_at(url), group, topics, brokers)


def of_group(asked: Dashboard, group: str, topics: Sequence[str], brokers: Sequence[str]) -> str:
    """The same of a dashboard that runs: numbers, tags and codes, without any name of the cluster's."""
    return "; ".join(
        (_listed(asked, group), *_consumers(asked, group, brokers), _tracks(asked, group, topics))
    )


@contextmanager
def _running(jar: Path, name_server: str) -> Iterator[str]:
    """The address of a dashboard of this cluster's own."""
    port = ports.choose(1).brokers[0]
    with Reaper.start() as reaper:
        folder = reaper.scratch(reaper.owner)
        command: list[str | Path] = [
            find_java().executable,
            "-Xmx256m",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            f"-Duser.home={folder}",
            f"-Drocketmq.namesrv.addr={name_server}",
            "-jar",
            jar.resolve(),
            f"--rocketmq.config.namesrvAddrs[0]={name_server}",
            f"--server.port={port}",
            "--server.address=127.0.0.1",
        ]
        process = _DashboardProcess(
            "dashboard", "dashboard", f"127.0.0.1:{port}", folder, command=command, owner=reaper.owner
        )
        process.start()
        try:
            reason = look_until(process.why_not_up, lambda seen: seen is None, _START_LIMIT_S, 0.2)
            if reason is not None:
                raise EnvironmentNotReady(f"the dashboard isn't up within {_START_LIMIT_S:g} s: {reason}")
            yield process.url
        finally:
            process.kill()
            reaper.remove_scratch(reaper.owner)


def _listed(asked: Dashboard, group: str) -> str:
    found = next((item for item in asked.groups() if item.group == group), None)
    if found is None:
        return "groups: not listed"
    return f"groups: {found.clients} online, lag {'unknown' if found.lag is None else found.lag}"


def _consumers(asked: Dashboard, group: str, brokers: Sequence[str]) -> Iterator[str]:
    try:
        connections = asked.connections(group, brokers)
    except DashboardRefused as refusal:
        yield f"consumers: {_refused(refusal)}"
    else:
        expressions = {
            item.expression for topic, item in connections.subscriptions.items() if not topic.startswith("%")
        }
        yield f"subscription: {', '.join(sorted(expressions)) or 'none'}"
    try:
        progress = asked.progress(group, brokers)
    except DashboardRefused as refusal:
        yield f"queues: {_refused(refusal)}"
        return
    queues = [queue for topic, found in progress.items() if not topic.startswith("%") for queue in found]
    yield f"queues: {len(queues)}, {sum(not queue.owner for queue in queues)} without a client"


def _tracks(asked: Dashboard, group: str, topics: Sequence[str]) -> str:
    """How many messages have which track for this group."""
    found = Counter[str]()
    for topic in topics:
        for message in _messages(asked.url, topic)[:_MESSAGES_AT_MOST]:
            try:
                tracks = asked.tracks(topic, message)
            except DashboardRefused as refusal:
                found[_refused(refusal)] += 1
            else:
                found.update(track.type for track in tracks if track.group == group)
    return f"tracks: {', '.join(f'{number} {name}' for name, number in sorted(found.items())) or 'none'}"


def _messages(url: str, topic: str) -> list[str]:
    """The ids of a topic's messages, as the dashboard's own page for them asks."""
    now_ms = int(time.time() * 1000)
    span: dict[str, str | int] = {"topic": topic, "begin": now_ms - 3_600_000, "end": now_ms + 60_000}
    answer = requests.get(f"{url}/message/queryMessageByTopic.query", params=span, timeout=60).json()
    return [str(item["msgId"]) for item in answer["data"] or ()]


def _refused(refusal: DashboardRefused) -> str:
    found = _REFUSAL.search(refusal.said)
    return " ".join((found[0] if found else refusal.said[:60]).split())
