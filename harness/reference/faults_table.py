"""Which cluster can do which fault, as a table in Markdown.

Print it with `python -m rocketchaos.harness.reference.faults_table`. It has what listeners do,
and how members come and go, too.

Nothing here says what a cluster can do: each fault is put into a scenario, and the kinds of clusters are asked.
"""

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.faults.base import Fault
from rocketchaos.harness.faults.process import fault_class
from rocketchaos.harness.language.fault_kind import BROKER, CONSUMER, DISK, NAME_SERVER, NETWORK, PRODUCER
from rocketchaos.harness.language.fault_registry import FAULT_KINDS, PROCESS_FAULTS
from rocketchaos.harness.nightly.dimensions import DIMENSIONS
from rocketchaos.harness.nightly.operations import OPERATIONS
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
    operations: tuple[str, ...] = ()
    """The operations of a night that do it."""
    in_containers: bool = False
    """Whether it needs clients that live in containers."""
    behaviour: str = "succeed"
    """The behaviour of `a`'s listener. If a night draws it, `dimension` is its name."""
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
        text = self.shown_by if self.fault is None else inspect.getdoc(self.fault.wait_effective) or ""
        return " ".join(text.split("\n\n")[0].split()).rstrip(".")

    @property
    def drawn(self) -> tuple[str, ...]:
        """What nights draw it by: operations, or a dimension."""
        dimension = (DIMENSIONS[self.dimension].name,) if self.dimension else ()
        return (*(OPERATIONS[name].name for name in self.operations), *dimension)


def _faults_of(target: str) -> tuple[Row, ...]:
    """Those that are done to consumers, to the producer, and so on."""
    return tuple(
        Row(
            shown.what,
            shown.step,
            fault_class(word, of_node=word in PROCESS_FAULTS and target in (BROKER, NAME_SERVER)),
            shown.drawn,
            in_containers=target == NETWORK,
        )
        for word, kind in FAULT_KINDS.items()
        for shown in kind.shown
        if shown.of == target
    )


ROWS = (
    *_faults_of(CONSUMER),
    Row(
        "a slow listener",
        "wait: 1s",
        None,
        behaviour="{slow: 50ms}",
        dimension="behaviour",
        shown_by="in the history, `consumed` follows `received` after at least this time",
    ),
    Row(
        "a failing listener",
        "wait: 1s",
        None,
        behaviour="{fail: 1}",
        dimension="behaviour",
        shown_by="`consumed` has the listener's answer, RECONSUME_LATER",
    ),
    Row(
        "a blocking listener",
        "settle: {blocked: a, within: 1s}",
        None,
        behaviour="block",
        dimension="behaviour",
        shown_by="`blocked` has the key of the message",
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
    *_faults_of(PRODUCER),
    *_faults_of(BROKER),
    *_faults_of(NAME_SERVER),
    *_faults_of(DISK),
    Row(
        "a setting of running brokers",
        f"broker-config: {_SETTING}",
        None,
        ("configure-broker",),
        shown_by="The broker shows the new setting",
    ),
    *_faults_of(NETWORK),
)
"""A fault is registered in `harness.language.fault_registry`, what else disturbs here."""


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
