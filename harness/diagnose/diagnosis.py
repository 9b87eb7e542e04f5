"""Examines the cluster, examines it again if a finding may be a passing state, then reports the findings."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.diagnose.bundle import Recorded
from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.collect import Collector, Scope, consumed_topics
from rocketchaos.harness.diagnose.exchange import Asker
from rocketchaos.harness.diagnose.finding import (
    Check,
    Evidence,
    Finding,
    Found,
    Inapplicable,
    Level,
    Result,
    RuledOut,
    Undetermined,
    Unknown,
)
from rocketchaos.harness.diagnose.model import DEAD_LETTERS, RETRY, Look
from rocketchaos.harness.diagnose.owners import has_id_twice, others_of_one_id
from rocketchaos.harness.diagnose.reached import require_reached
from rocketchaos.harness.diagnose.signs import Place, Sign, lasts_s, recurring, signs_of
from rocketchaos.harness.diagnose.view import ClusterView, GroupView
from rocketchaos.harness.diagnose.words import joined

WATCH_EVERY_S = 5.0
"""From one look of a watch to the next; clients commit their offsets as often."""
MOST_LOOKS = 60
"""How many are kept: five minutes of a watch."""
REGISTERS_S = 35.0
"""A name server that restarts knows all brokers again after 30 s (registerNameServerPeriod)."""
LOOKS_AFTER_S = (1.0, 2.0, 3.0, 5.0, 7.0, 9.0)
"""From one look to the next, as long as something may be a moment of a change; 9 s from then on."""


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The result of a diagnosis.

    Without a repr of its own: `asyncio.run` makes one of its task and result at the end (CPython 3.11, by
    `signal.getsignal`), which of 500 groups took a gigabyte and most of a minute.
    """

    name_servers: tuple[str, ...]
    groups: tuple[str, ...]
    looks: tuple[Look, ...]
    findings: tuple[Finding, ...]
    undetermined: tuple[Undetermined, ...]
    ruled_out: tuple[RuledOut, ...]
    offline: tuple[str, ...] = ()
    """Groups of which no broker knows a member."""
    views: Mapping[str, GroupView] = field(default_factory=dict)
    """Each group, as it was last seen."""
    seconds: float = 0.0
    interrupted: bool = False
    """Ctrl-C ended it before it had looked at all that may change."""
    unreached: str = ""
    """Why the last look reached nobody: this is the answer of the looks before. Empty: it did."""

    def at_least(self, threshold: Level) -> tuple[Finding, ...]:
        """The findings that count."""
        return tuple(finding for finding in self.findings if finding.level >= threshold)


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Why the diagnosis looks again."""

    codes: tuple[str, ...]
    """Of the checks whose result may be a moment of a change."""
    left_s: float
    """How long it may still take."""


@dataclass(slots=True)
class Diagnosis:
    """One diagnosis of a live cluster, or of a record; `checks` are those that were chosen."""

    asker: Asker
    scope: Scope
    checks: Sequence[Check] = tuple(CHECKS.values())
    recorded: Recorded | None = None
    """The record that is asked; None: the cluster is live."""
    watch_s: float = 0.0
    """How long it looks on, whatever it sees."""
    within_s: float = math.inf
    """After this time it looks no more; a possible moment of a change is then undetermined."""
    on_look: Callable[[Report], None] = lambda _report: None
    """Called with every look."""
    on_early_answer: Callable[[Report, Unsettled], None] = lambda _report, _unsettled: None
    """Called with the answer so far before it looks again; not in a watch."""
    on_lost: Callable[[Look, str], None] = lambda _look, _why: None
    """Called with a look that nobody answered, and the reason."""
    looks: list[Look] = field(default_factory=list)
    """The last ones."""
    looked: int = 0
    """How many there were."""
    found: set[Place] = field(default_factory=set)
    """What was found at any time: a watch doesn't rule it out once it has gone."""
    answer: Report | None = None
    """The answer so far."""

    async def run(self) -> Report:
        """Look until all is settled, or the patience is over; again only at the groups that are not.

        A watch looks at all of them, until its time is over. Ctrl-C cancels the task: the last answer counts, as
        it does if nobody answers the last look.

        Raises:
            EnvironmentNotReady: no name server, or no broker, answers the first look.
            asyncio.CancelledError: the task was cancelled within its first look.
        """
        try:
            return await self._look_on()
        except EnvironmentNotReady as error:
            if self.answer is None:
                raise
            return replace(self.answer, unreached=error.message)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self.answer is None or task is None:
                raise
            task.uncancel()  # so that the connections can still be closed
            return replace(self.answer, interrupted=True)

    async def _look_on(self) -> Report:
        begin = time.monotonic()
        collector = Collector(self.asker, self.scope)
        results: dict[Place, Sequence[Result]] = {}
        seen: list[frozenset[Sign]] = []
        groups: frozenset[str] | None = None
        patience_s = 0.0
        while True:
            look = await collector.look(self.looked, groups)
            self.looked += 1
            if self._is_lost(look, max(patience_s, REGISTERS_S), begin):
                await self._pause(REGISTERS_S)
                groups = groups if self.recorded is None else self.recorded.groups_in(self.looked)
                continue
            self.looks.append(look)
            await collector.entries(look)
            new = evaluate(self.looks, collector, self.checks)
            results.update(new)
            seen.append(signs_of(new))
            del self.looks[:-MOST_LOOKS], seen[:-MOST_LOOKS]
            report = _report(self.looks, seen, collector, results, time.monotonic() - begin)
            self.found.update((finding.check.code, finding.group) for finding in report.findings)
            passing = self.found | recurring(self.looks, seen)
            ruled_out = [item for item in report.ruled_out if (item.check.code, item.group) not in passing]
            report = self.answer = replace(report, ruled_out=tuple(ruled_out))
            self.on_look(report)
            unsettled = {place: left for place, found in new.items() if (left := _unsettled_s(found))}
            groups = frozenset(group for _, group in unsettled) | _consuming(look, _unsettled_topics(new))
            patience_s = max(unsettled.values(), default=0.0)
            if not self._looks_again(patience_s, begin):
                return report
            if self.recorded is not None:
                groups = self.recorded.groups_in(self.looked)
            else:
                left_s = max(0.0, min(patience_s, self.within_s) - (time.monotonic() - begin))
                if not self.watch_s:
                    codes = sorted({code for code, _ in unsettled})
                    self.on_early_answer(report, Unsettled(tuple(codes), left_s))
                await self._pause(left_s)
            if self.watch_s:
                groups = None

    def _is_lost(self, look: Look, patience_s: float, begin: float) -> bool:
        """Whether nobody answered, as while the only name server restarts, and there is time for another look.

        Raises:
            EnvironmentNotReady: nobody answered the first look, or the last one.
        """
        try:
            require_reached(look)
        except EnvironmentNotReady as error:
            if self.answer is None or not self._looks_again(patience_s, begin):
                raise
            self.on_lost(look, error.message)
            return True
        return False

    def _looks_again(self, patience_s: float, begin: float) -> bool:
        if self.recorded is not None:
            return self.looked < self.recorded.looks
        past_s = time.monotonic() - begin
        return past_s < self.watch_s or past_s < min(patience_s, self.within_s)

    async def _pause(self, left_s: float) -> None:
        """A sampling interval: the next look shows whether the state lasts."""
        if self.recorded is not None:
            return
        after_s = LOOKS_AFTER_S[min(self.looked - 1, len(LOOKS_AFTER_S) - 1)]
        await asyncio.sleep(WATCH_EVERY_S if self.watch_s else min(after_s, max(0.1, left_s)))


def _unsettled_s(found: Iterable[Result]) -> float:
    """How long it takes, from the first look on, to tell whether these last; 0 where all are settled."""
    return max(map(_takes_s, found), default=0.0)


def _unsettled_topics(results: Mapping[Place, Sequence[Result]]) -> set[str]:
    """The topics about which a check of the cluster isn't sure yet."""
    return {
        item.topic
        for (_, group), found in results.items()
        for item in found
        if not group and isinstance(item, Found) and item.topic and _takes_s(item)
    }


def _consuming(look: Look, topics: set[str]) -> frozenset[str]:
    """The groups of a look that have one of these topics: a look at no group asks for no topic."""
    return frozenset(
        group
        for group in look.stored
        if topics & {*consumed_topics(look, group), f"{RETRY}{group}", f"{DEAD_LETTERS}{group}"}
    )


def _takes_s(result: Result) -> float:
    if isinstance(result, Unknown):
        return result.for_s + 2 if result.look_again else 0.0
    if isinstance(result, Inapplicable):
        return 0.0
    return 0.0 if result.settled else result.lasts_s + 2


def evaluate(
    looks: Sequence[Look], collector: Collector, checks: Iterable[Check]
) -> dict[Place, Sequence[Result]]:
    """The answers of every check about the groups in the last look."""
    now = looks[-1]
    cluster = ClusterView(tuple(looks), collector.scope.groups is not None)
    views = {group: _view(looks, group, collector) for group in now.stored}
    found: dict[Place, Sequence[Result]] = {}
    for check in checks:
        if check.of_cluster is not None:
            found[check.code, ""] = list(check.of_cluster(cluster)) or _unseen(check, cluster)
        if check.of_group is not None:
            for group, view in views.items():
                found[check.code, group] = list(check.of_group(view)) or _hidden(check, view)
    unused = [
        item for topic in collector.scope.topics if (item := _consumed_by_nobody(looks, topic)) is not None
    ]
    return {**found, ("RC0401", ""): unused or [Inapplicable()]} if collector.scope.topics else found


def _consumed_by_nobody(looks: Sequence[Look], topic: str) -> Unknown | None:
    """A topic that the user named, and that none of the groups consumes: all other checks pass it over."""
    known = {topic for look in looks for group in look.stored for topic in consumed_topics(look, group)}
    if topic in known:
        return None
    routes = looks[-1].routes.get(topic, {}).values()
    if evidence := tuple(Evidence(route.exchange, "it has a route") for route in routes if route.brokers):
        return Unknown("it has one, and no group of this diagnosis consumes it", evidence, topic)
    similar = next(iter(looks[-1].similar.get(topic, ())), None) or nearest(topic, known)
    return Unknown(
        "no group of this diagnosis consumes it" + (f"; did you mean {similar}?" if similar else ""),
        topic=topic,
    )


def _hidden(check: Check, view: GroupView) -> Sequence[Result]:
    """What is unknown because a member that didn't answer may hide it."""
    quiet = view.silent if check.by_members else view.unclear if check.by_subscriptions else ()
    if not quiet and (check.by_members or check.by_subscriptions) and has_id_twice(view):
        return [others_of_one_id()]
    if not quiet:
        return _unseen(check, view) if view.online else []
    return [
        Unknown(
            "not every member reported its state",
            tuple(Evidence(item.exchange, item.exchange.why_not) for item in quiet),
            by_silence=True,
        )
    ]


def _unseen(check: Check, view: ClusterView | GroupView) -> Sequence[Result]:
    """What is unknown because a broker that didn't answer may hide it."""
    lacking = view.silent_brokers if check.by_brokers else {}
    if not lacking:
        return []
    return [
        Unknown(
            f"{joined(sorted(lacking))} {'doesn' if len(lacking) == 1 else 'don'}'t tell",
            tuple(Evidence(item, item.why_not) for item in lacking.values()),
            by_silence=True,
            silent="brokers",
        )
    ]


def _view(looks: Sequence[Look], group: str, collector: Collector) -> GroupView:
    own = tuple(look for look in looks if group in look.stored)
    named = collector.scope.groups is not None
    topics = tuple(collector.topics_of(own[-1], group))
    return GroupView(group, own, topics, named, collector.scope.pseudonyms)


def _report(
    looks: Sequence[Look],
    seen: Sequence[frozenset[Sign]],
    collector: Collector,
    results: Mapping[Place, Sequence[Result]],
    seconds: float,
) -> Report:
    """What the results mean; a state that may be a moment of a change isn't reported as certain."""
    findings: list[Finding] = []
    undetermined: list[Undetermined] = []
    ruled_out: list[RuledOut] = []
    last = {group: look for look in looks for group in look.stored}
    offline = [group for group, look in last.items() if not look.members.get(group)]
    views = {group: _view(looks, group, collector) for group in last}
    abandoned = [group for group, view in views.items() if view.abandoned]
    for (code, group), found in results.items():
        check = CHECKS[code]
        for item in found:
            if isinstance(item, Unknown):
                undetermined.append(
                    Undetermined(
                        check, group, item.topic, item.reason, item.evidence, item.by_silence, item.silent
                    )
                )
            elif isinstance(item, Inapplicable):
                continue
            elif item.settled or lasts_s(looks, seen, (code, group, item.topic, item.key)) >= item.lasts_s:
                findings.append(_finding(check, group, item, abandoned=group in abandoned))
            else:
                reason = f"it may be a moment of a change: {item.sentence}"
                undetermined.append(Undetermined(check, group, item.topic, reason, item.evidence))
        if not found and check.ruled_out and group not in offline:
            ruled_out.append(RuledOut(check, group))
    findings.sort(key=lambda finding: (-finding.level, finding.check.code, finding.group, finding.topic))
    return Report(
        collector.scope.name_servers,
        tuple(last),
        tuple(looks),
        tuple(findings),
        tuple(undetermined),
        tuple(ruled_out),
        tuple(offline),
        views,
        seconds,
    )


def _finding(check: Check, group: str, found: Found, *, abandoned: bool) -> Finding:
    level = check.level if found.level is None else found.level
    if abandoned:
        level = min(level, Level.WARNING)
    return Finding(
        check,
        level,
        group,
        found.topic,
        found.sentence,
        found.effect or check.effect,
        found.evidence,
        found.messages,
    )
