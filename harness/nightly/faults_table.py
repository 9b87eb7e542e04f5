"""Which cluster can do which fault, as a table in Markdown: `python -m harness.nightly.faults_table`.

Nothing here says what a cluster can do: each fault is put into a scenario, and the kinds of clusters are asked.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from harness.cluster.kinds import ClusterKind
from harness.faults.base import Fault
from harness.faults.delay import Delay
from harness.faults.fill_disk import FillDisk
from harness.faults.kill import Kill
from harness.faults.kill_node import KillNode
from harness.faults.loss import Loss
from harness.faults.partition import Partition
from harness.faults.pause import Pause
from harness.faults.pause_node import PauseNode
from harness.faults.reset import Reset
from harness.faults.restart_node import RestartNode
from harness.faults.restart_producer import RestartProducer
from harness.faults.stop_node import StopNode
from harness.feasibility import why_not
from harness.nightly.acts import ACTS
from harness.spec import parse_scenario

VERSION = "4.9.4"
_SETTING = "{set: {longPollingEnable: true}}"
_SCENARIO = """\
name: fault
title: one fault
{head}topics: {{orders: {{queues: 4}}}}
consumers:
  a: {{group: g, subscribe: {{orders: '*'}}}}
steps:
  - start: a
  - {step}
anomaly: [{{undelivered: {{at_least: 1}}}}]
healthy: [{{undelivered: {{count: 0}}}}]
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One fault, by the step that injects it."""

    what: str
    step: str
    fault: type[Fault] | None
    """What proves its effect; None: it is no fault by itself, and its step says what it was answered."""
    acts: tuple[str, ...] = ()
    """The acts of a night that do it."""
    in_containers: bool = False
    """Whether it needs clients that live in containers."""

    def possible_on(self, kind: ClusterKind) -> bool:
        """Whether a cluster of this kind can do it."""
        head = "workers: containers\n" if self.in_containers else ""
        scenario = parse_scenario(_SCENARIO.format(head=head, step=self.step), self.what)
        return why_not(scenario, VERSION, kind) is None

    @property
    def proof(self) -> str:
        """The first sentence of what says how its effect is proven."""
        told = "" if self.fault is None else inspect.getdoc(self.fault.wait_effective) or ""
        return " ".join(told.split("\n\n")[0].split()).rstrip(".") or "the broker shows the new setting"


ROWS = (
    Row("SIGKILL of a consumer", "kill: a", Kill, ("kill",)),
    Row("SIGSTOP and SIGCONT of a consumer", "pause: a", Pause, ("pause",)),
    Row("SIGKILL of the producer", "kill: producer", Kill, ("kill-producer",)),
    Row("SIGSTOP and SIGCONT of the producer", "pause: producer", Pause, ("pause-producer",)),
    Row("restart of the producer", "restart: producer", RestartProducer, ("kill-producer",)),
    Row("SIGKILL of a broker", "kill: broker-a", KillNode, ("kill-broker",)),
    Row("SIGTERM of a broker", "stop: broker-a", StopNode, ("stop-broker",)),
    Row("restart of a broker", "restart: broker-a", RestartNode, ("restart-broker",)),
    Row("SIGSTOP and SIGCONT of a broker", "pause: broker-a", PauseNode, ("pause-broker",)),
    Row("SIGKILL of the name server", "kill: nameserver", KillNode, ("kill-nameserver",)),
    Row("SIGSTOP and SIGCONT of the name server", "pause: nameserver", PauseNode, ("pause-nameserver",)),
    Row("a full disk of a broker (4.9.x)", "fill-disk: broker-a", FillDisk, ("fill-disk",)),
    Row("a setting of running brokers", f"broker-config: {_SETTING}", None, ("configure-broker",)),
    Row(
        "a partition of the network",
        "partition: {between: a, and: broker-a}",
        Partition,
        ("partition",),
        in_containers=True,
    ),
    Row("lost packets", "loss: {from: broker-a, to: a, percent: 30}", Loss, ("loss",), in_containers=True),
    Row("reset connections", "reset: {between: a, and: broker-a}", Reset, ("reset",), in_containers=True),
    Row("a slow broker", "delay: {of: broker-a, by: 200ms}", Delay, ("delay",), in_containers=True),
)
"""A new fault is registered here."""


def table() -> str:
    """The table."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    kinds = list(ClusterKind)
    yield f"| fault | {' | '.join(kinds)} | proof that it took effect | drawn by `nightly` |"
    yield f"|---|{'---|' * len(kinds)}---|---|"
    for row in ROWS:
        can = " | ".join("yes" if row.possible_on(kind) else "–" for kind in kinds)
        drawn = ", ".join(f"`{ACTS[name].name}`" for name in row.acts) or "–"
        yield f"| {row.what} | {can} | {row.proof} | {drawn} |"


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
