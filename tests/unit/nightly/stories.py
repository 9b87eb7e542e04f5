"""Hand-made runs of a group of two, for tests of what is read from them. Test data only: never a result."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from rocketchaos.assertions.oracle import fates
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Outcome, OutcomeKind, Trouble
from rocketchaos.harness.language.tags import SQL
from rocketchaos.harness.nightly.findings import NightlyFinding, findings
from rocketchaos.harness.nightly.invariants import Breach, Invariant, Judged
from tests.unit.history_builder import HistoryBuilder, scenario_of

SCENARIO = """\
name: story
title: a story
topics: {{orders: {{queues: 2}}, bills: {{queues: 2}}}}
consumers:
  a: {{group: g, subscribe: {a}}}
  b: {{group: g, subscribe: {b}}}
steps:
  - start: [a, b]
anomaly: [{{undelivered: {{at_least: 1}}}}]
healthy: [{{undelivered: {{count: 0}}}}]
"""
MISMATCH = {"a": "{orders: tagA}", "b": "{orders: tagB}"}
BY_SQL = {"a": "{orders: {sql: a = 1}}", "b": "{orders: {sql: a = 1}}"}


class Story(HistoryBuilder):
    """a and b of group g, both online; a owns the first queue of each topic, b the second."""

    def __init__(self, a: str = "{orders: '*'}", b: str = "{orders: '*'}") -> None:
        super().__init__()
        self.scenario = scenario_of(SCENARIO.format(a=a, b=b))
        self.add("harness", "run-started", scenario="story", timing="compressed")
        self.at(1.0)
        for name in ("a", "b"):
            self.start(self.scenario, name)

    def looks(self, stored: str, at: float) -> Story:
        """The broker holds this for orders, and everybody owns what is theirs."""
        self.at(at).stored("g", {"orders": stored}, ["a", "b"])
        self.owns(self.scenario, "a", "orders", [0])
        self.owns(self.scenario, "b", "orders", [1])
        return self

    def sends(self, tag: str, at: float, queues: tuple[int, ...] = (0, 1)) -> Story:
        self.at(at)
        for queue in queues:
            self.send("orders", tag, queue + 1, queue, 0)
        return self

    def by_sql(self, stored: str, properties: Mapping[str, str]) -> Story:
        """What brokers hold is this SQL, and all that was sent has these properties."""
        for index, event in enumerate(self.events):
            if event.kind == "sent":
                self.events[index] = self._with(event, {"properties": dict(properties)})
            elif event.kind == "subscription-observed":
                held = {
                    topic: {**item, "expression": stored, "type": SQL, "codes": []}
                    for topic, item in event.data["subscriptions"].items()
                }
                self.events[index] = self._with(event, {"subscriptions": held})
        return self

    def seen(self, *offsets: tuple[float, int | None], **more: Any) -> Story:
        """Looks at the stored offset of the first queue of orders, at these times."""
        for at, offset in offsets:
            self.at(at).offsets("g", "orders", [(offset, 999), (0, 0)], **more)
        return self

    def fault(self, life: str, what: str, target: str, at: float, **more: Any) -> Story:
        """`injected`, `effective` or `healed`."""
        self.at(at).add("harness", f"fault-{life}", fault=what, target=target, **more)
        return self

    def got(self, name: str, number: int, queue: int, tag: str = "tagB", **more: Any) -> Story:
        self.receive(name, "orders", f"orders-{number}", tag, queue, 0)
        if more:
            self.events[-2] = self._with(self.events[-2], more)
        return self

    @staticmethod
    def _with(event: Any, more: dict[str, Any]) -> Any:
        return dataclasses.replace(event, data={**event.data, **more})

    def passed(self, at: float, offsets: tuple[int, int] = (1, 1)) -> Story:
        self.at(at).offsets("g", "orders", [(offset, 1) for offset in offsets])
        return self

    def ends(self, stored: str, at: float = 20.0) -> Story:
        self.at(at).stored("g", {"orders": stored}, ["a", "b"], moment="end")
        self.owns(self.scenario, "a", "orders", [0], moment="end")
        self.owns(self.scenario, "b", "orders", [1], moment="end")
        return self.end_of_run()

    def end_of_run(self) -> Story:
        """Of a run whose end was observed."""
        self.add("harness", "moment-observed", moment="end")
        self.add("harness", "run-ended")
        return self

    @property
    def judged(self) -> Judged:
        view = RunView(self.scenario, self.events)
        end = view.end_of("end")
        assert end is not None
        return Judged(view, fates(view, self.events[-1].n), end)

    def breaches(self, invariant: Invariant) -> list[Breach]:
        return list(invariant.breaches(self.judged))

    def found(self, trouble: Trouble | None = None) -> list[NightlyFinding]:
        kind = OutcomeKind.INCONCLUSIVE if trouble else OutcomeKind.REPRODUCED
        messages = tuple(self.judged.fates)
        outcome = Outcome(kind, None, None, "", trouble, (), messages)
        return findings(self.scenario, self.events, outcome)


def quiet(stored: str = "*", tag: str = "tagB", **who: str) -> Story:
    """Both get what is theirs."""
    story = Story(**who).looks(stored, 2.0).sends(tag, 3.0)
    story.got("a", 1, 0, tag).got("b", 2, 1, tag)
    return story.passed(4.0).ends(stored)


def kill(story: Story, target: str, at: float) -> Story:
    """A fault of a kill took effect."""
    story.at(at).add("harness", "fault-effective", fault="kill", target=target, proof="it is")
    return story


def causes(story: Story, invariant: Invariant) -> list[str]:
    """Those of its findings."""
    return [breach.cause for breach in story.breaches(invariant)]


def half_lost(**who: str) -> Story:
    """The owner drops what the other member wants."""
    story = Story(**(who or MISMATCH)).looks("tagB", 2.0).sends("tagB", 3.0)
    return story.got("b", 2, 1).passed(4.0).ends("tagB")
