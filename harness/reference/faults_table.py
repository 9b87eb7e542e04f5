"""Which cluster can do which fault, as a table in Markdown.

Print it with `python -m rocketchaos.harness.reference.faults_table`. It has what listeners do,
and how members come and go, too.

Nothing here says what a cluster can do: each fault is put into a scenario, and the kinds of clusters are asked.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from rocketchaos.harness.cluster.kinds import ClusterKind
from rocketchaos.harness.faults.base import Fault
from rocketchaos.harness.faults.delay import Delay
from rocketchaos.harness.faults.fill_disk import FillDisk
from rocketchaos.harness.faults.kill import Kill
from rocketchaos.harness.faults.kill_node import KillNode
from rocketchaos.harness.faults.loss import Loss
from rocketchaos.harness.faults.partition import Partition
from rocketchaos.harness.faults.pause import Pause
from rocketchaos.harness.faults.pause_node import PauseNode
from rocketchaos.harness.faults.reset import Reset
from rocketchaos.harness.faults.restart_node import RestartNode
from rocketchaos.harness.faults.restart_producer import RestartProducer
from rocketchaos.harness.faults.stop_node import StopNode
from rocketchaos.harness.faults.terminate import Terminate
from rocketchaos.harness.nightly.acts import ACTS
from rocketchaos.harness.nightly.dimensions import DIMENSIONS
from rocketchaos.harness.plan.feasibility import why_not
from rocketchaos.harness.scenario import parse_scenario

VERSION = "4.9.4"
_SETTING = "{set: {longPollingEnable: true}}"
_SCENARIO = """\
name: fault
title: one fault
{head}topics: {{orders: {{queues: 4}}}}
consumers:
  a: {{group: g, subscribe: {{orders: '*'}}, behaviour: {behaviour}}}
  b: {{group: g, subscribe: {{orders: '*'}}}}
steps:
  - start: [a, b]
  - {step}
anomaly: [{{undelivered: {{at_least: 1}}}}]
healthy: [{{undelivered: {{count: 0}}}}]
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One fault, by the step that injects it, or what else disturbs."""

    what: str
    step: str
    fault: type[Fault] | None
    """What proves its effect; None: it is no fault by itself."""
    acts: tuple[str, ...] = ()
    """The acts of a night that do it."""
    in_containers: bool = False
    """Whether it needs clients that live in containers."""
    behaviour: str = "succeed"
    """What the listener of `a` does; where it is this that a night draws, `dimension` is its name."""
    dimension: str = ""
    shown_by: str = ""
    """What shows it, where it is no fault by itself."""

    def possible_on(self, kind: ClusterKind) -> bool:
        """Whether a cluster of this kind can do it."""
        head = "workers: containers\n" if self.in_containers else ""
        text = _SCENARIO.format(head=head, step=self.step, behaviour=self.behaviour)
        scenario = parse_scenario(text, self.what)
        return why_not(scenario, VERSION, kind) is None

    @property
    def proof(self) -> str:
        """The first sentence of what says how its effect is proven."""
        told = self.shown_by if self.fault is None else inspect.getdoc(self.fault.wait_effective) or ""
        return " ".join(told.split("\n\n")[0].split()).rstrip(".")

    @property
    def drawn(self) -> tuple[str, ...]:
        """What nights draw it by: acts, or a dimension."""
        dimension = (DIMENSIONS[self.dimension].name,) if self.dimension else ()
        return (*(ACTS[name].name for name in self.acts), *dimension)


ROWS = (
    Row("SIGKILL of a consumer", "kill: a", Kill, ("kill",)),
    Row("SIGTERM of a consumer", "terminate: a", Terminate, ("terminate",)),
    Row("SIGSTOP and SIGCONT of a consumer", "pause: a", Pause, ("pause",)),
    Row(
        "a slow listener",
        "wait: 1s",
        None,
        behaviour="{slow: 50ms}",
        dimension="behaviour",
        shown_by="`consumed` comes so long after `received` in the history",
    ),
    Row(
        "a failing listener",
        "wait: 1s",
        None,
        behaviour="{fail: 1}",
        dimension="behaviour",
        shown_by="`consumed` tells what was answered, RECONSUME_LATER",
    ),
    Row(
        "a blocking listener",
        "settle: {blocked: a, within: 1s}",
        None,
        behaviour="block",
        dimension="behaviour",
        shown_by="`blocked` tells on which message",
    ),
    Row(
        "members joining and leaving in waves",
        "repeat: {times: 2, steps: [{stop: b}, {start: b}]}",
        None,
        ("join", "wave"),
        shown_by="each start and stop is in the history; `settle: ownership` waits until all queues have moved",
    ),
    Row(
        "a rolling deployment",
        "restart: [a, b]",
        None,
        ("rolling",),
        shown_by="each member has stopped and started in the history before the next one stops",
    ),
    Row("SIGKILL of the producer", "kill: producer", Kill, ("kill-producer",)),
    Row("SIGTERM of the producer", "terminate: producer", Terminate, ("terminate-producer",)),
    Row("SIGSTOP and SIGCONT of the producer", "pause: producer", Pause, ("pause-producer",)),
    Row(
        "restart of the producer",
        "restart: producer",
        RestartProducer,
        ("kill-producer", "terminate-producer"),
    ),
    Row("SIGKILL of a broker", "kill: broker-a", KillNode, ("kill-broker",)),
    Row("SIGTERM of a broker", "stop: broker-a", StopNode, ("stop-broker",)),
    Row("restart of a broker", "restart: broker-a", RestartNode, ("restart-broker",)),
    Row("SIGSTOP and SIGCONT of a broker", "pause: broker-a", PauseNode, ("pause-broker",)),
    Row("SIGKILL of the name server", "kill: nameserver", KillNode, ("kill-nameserver",)),
    Row("SIGTERM of the name server", "stop: nameserver", StopNode, ("stop-nameserver",)),
    Row("restart of the name server", "restart: nameserver", RestartNode, ("restart-nameserver",)),
    Row("SIGSTOP and SIGCONT of the name server", "pause: nameserver", PauseNode, ("pause-nameserver",)),
    Row("a full disk of a broker (4.9.x)", "fill-disk: broker-a", FillDisk, ("fill-disk",)),
    Row(
        "a setting of running brokers",
        f"broker-config: {_SETTING}",
        None,
        ("configure-broker",),
        shown_by="The broker shows the new setting",
    ),
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
        drawn = ", ".join(f"`{name}`" for name in row.drawn) or "–"
        yield f"| {row.what} | {can} | {row.proof} | {drawn} |"


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
