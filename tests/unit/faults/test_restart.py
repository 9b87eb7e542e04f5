"""`restart` of a server that ends as it starts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import NodeEnded
from rocketchaos.harness.faults.restart import RestartNode


class Ending:
    """A cluster whose broker ends as it starts."""

    kind = "embedded"

    def __init__(self) -> None:
        self.excused: list[str] = []

    def restart_node(self, name: str) -> None:
        raise NodeEnded(
            f"{name} could not be started: ended with exit code 253", "The end of it.", "exit code 253"
        )

    def excuse_end(self, name: str) -> None:
        self.excused.append(name)


def restart(cluster: Ending, *, may_be_refused: bool) -> RestartNode:
    servers = SimpleNamespace(
        cluster=cluster, node=lambda _name: SimpleNamespace(process="process 1"), note_down=lambda *_: None
    )
    context = cast(Any, SimpleNamespace(servers=servers))
    return RestartNode(context, "broker-a", may_be_refused=may_be_refused)


def test_the_way_out_is_named_where_nothing_allows_it() -> None:
    with pytest.raises(NodeEnded) as failure:
        restart(Ending(), may_be_refused=False).inject()
    assert failure.value.reason == "exit code 253"
    assert str(failure.value).endswith(
        "If it may end so, write `restart: {targets: broker-a, may_be_refused: true}`. "
        "Its log is in the run folder, logs/."
    )


def test_where_it_is_allowed_it_is_over() -> None:
    cluster = Ending()
    fault = restart(cluster, may_be_refused=True)
    fault.inject()
    assert cluster.excused == ["broker-a"]
    assert fault.wait_effective() == "broker-a ended as it started: exit code 253"
