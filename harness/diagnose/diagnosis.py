"""Looks, and looks again while something may be a moment of a change; then says what was found."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.collect import Collector, Scope
from rocketchaos.harness.diagnose.exchange import Asker
from rocketchaos.harness.diagnose.finding import (
    Check,
    Finding,
    Found,
    Level,
    Result,
    RuledOut,
    Undetermined,
    Unknown,
)
from rocketchaos.harness.diagnose.model import Look
from rocketchaos.harness.diagnose.view import SETTLES_S, ClusterView, GroupView

LOOKS_AFTER_S = (1.0, 2.0, 3.0, 5.0, 7.0, 9.0)
"""From one look to the next, as long as something may be a moment of a change: 27 s in all."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a diagnosis says."""

    name_servers: tuple[str, ...]
    groups: tuple[str, ...]
    looks: tuple[Look, ...]
    findings: tuple[Finding, ...]
    undetermined: tuple[Undetermined, ...]
    ruled_out: tuple[RuledOut, ...]
    offline: tuple[str, ...] = ()
    """Groups of which no broker knows a member."""
    seconds: float = 0.0

    def at_least(self, threshold: Level) -> tuple[Finding, ...]:
        """The findings that count."""
        return tuple(one for one in self.findings if one.level >= threshold)


@dataclass(slots=True)
class Diagnosis:
    """One diagnosis of a live cluster, or of a record; `checks` are those that were chosen."""

    asker: Asker
    scope: Scope
    checks: Sequence[Check] = tuple(CHECKS.values())
    patience_s: float = SETTLES_S + 2
    """How long it looks again for what may be a moment of a change."""
    recorded_looks: int | None = None
    """Of a record: so many looks are in it; None: the cluster is live."""
    progress: Callable[[str], None] = lambda _text: None
    looks: list[Look] = field(default_factory=list)

    async def run(self) -> Report:
        """Look until all is settled, or the patience is over.

        Raises:
            EnvironmentNotReady: no name server, or no broker, can be reached.
        """
        begin = time.monotonic()
        collector = Collector(self.asker, self.scope)
        seen: list[frozenset[Sign]] = []
        while True:
            look = await collector.look(len(self.looks))
            require_reached(look)
            self.looks.append(look)
            await asyncio.gather(*(collector.entries(look, group) for group in look.stored))
            results = evaluate(self.looks, collector, self.checks)
            seen.append(_seen(results))
            if not self._looks_again(results, begin):
                break
            await self._pause(begin)
        return report(self.looks, seen, self.scope, results, time.monotonic() - begin)

    def _looks_again(self, results: Results, begin: float) -> bool:
        if self.recorded_looks is not None:
            return len(self.looks) < self.recorded_looks
        unsettled = [
            one
            for found in results.values()
            for one in found
            if (isinstance(one, Found) and not one.settled) or (isinstance(one, Unknown) and one.look_again)
        ]
        return bool(unsettled) and time.monotonic() - begin < self.patience_s

    async def _pause(self, begin: float) -> None:
        if self.recorded_looks is not None:
            return
        number = min(len(self.looks) - 1, len(LOOKS_AFTER_S) - 1)
        self.progress("something may be a moment of a change: looking again")
        await asyncio.sleep(
            min(LOOKS_AFTER_S[number], max(0.1, self.patience_s - (time.monotonic() - begin)))
        )


Results = Mapping[tuple[str, str], Sequence[Result]]
"""By code and group; the group of the cluster's own checks is empty."""


def evaluate(looks: Sequence[Look], collector: Collector, checks: Iterable[Check]) -> Results:
    """What every check says now."""
    now = looks[-1]
    views = {
        group: GroupView(group, tuple(looks), tuple(collector.topics_of(now, group))) for group in now.stored
    }
    found: dict[tuple[str, str], Sequence[Result]] = {}
    for check in checks:
        if check.of_cluster is not None:
            found[check.code, ""] = list(check.of_cluster(ClusterView(tuple(looks))))
        if check.of_group is not None:
            for group, view in views.items():
                found[check.code, group] = list(check.of_group(view))
    return found


Sign = tuple[str, str, str, str]
"""Of a thing that was found: code, group, topic and what must stay the same."""


def _seen(results: Results) -> frozenset[Sign]:
    return frozenset(
        (code, group, one.topic, one.key)
        for (code, group), found in results.items()
        for one in found
        if isinstance(one, Found)
    )


def report(
    looks: Sequence[Look], seen: Sequence[frozenset[Sign]], scope: Scope, results: Results, seconds: float
) -> Report:
    """What the results of the last look mean; what may be a moment of a change isn't told as certain.

    Args:
        looks: all of them.
        seen: what was found in each.
        scope: what was looked at.
        results: of the last look.
        seconds: how long it took.
    """
    findings: list[Finding] = []
    undetermined: list[Undetermined] = []
    ruled_out: list[RuledOut] = []
    for (code, group), found in results.items():
        check = CHECKS[code]
        for one in found:
            if isinstance(one, Unknown):
                undetermined.append(Undetermined(check, group, one.topic, one.reason, one.evidence))
            elif one.settled or _lasts_s(looks, seen, (code, group, one.topic, one.key)) >= SETTLES_S:
                findings.append(_finding(check, group, one))
            else:
                undetermined.append(
                    Undetermined(
                        check,
                        group,
                        one.topic,
                        f"it may be a moment of a change: {one.sentence}",
                        one.evidence,
                    )
                )
        if not found and check.ruled_out:
            ruled_out.append(RuledOut(check, group))
    now = looks[-1]
    findings.sort(key=lambda one: (-one.level, one.check.code, one.group, one.topic))
    return Report(
        scope.name_servers,
        tuple(now.stored),
        tuple(looks),
        tuple(findings),
        tuple(undetermined),
        tuple(ruled_out),
        tuple(group for group in now.stored if not now.members.get(group)),
        seconds,
    )


def _lasts_s(looks: Sequence[Look], seen: Sequence[frozenset[Sign]], sign: Sign) -> float:
    """How long a thing has been found in every look."""
    since = looks[-1].at_ms
    for look, signs in zip(reversed(looks), reversed(seen), strict=True):
        if sign not in signs:
            break
        since = look.at_ms
    return (looks[-1].at_ms - since) / 1000


def _finding(check: Check, group: str, one: Found) -> Finding:
    level = check.level if one.level is None else one.level
    return Finding(check, level, group, one.topic, one.sentence, one.effect or check.effect, one.evidence)


def require_reached(look: Look) -> None:
    """Make sure that somebody answered.

    Raises:
        EnvironmentNotReady: no name server, or no broker, can be reached.
    """
    silent = [one.exchange for one in look.registered.values() if not one.exchange.succeeded]
    if len(silent) == len(look.registered):
        raise EnvironmentNotReady(
            "no name server answers: " + "; ".join(f"{one.address}: {one.why_not}" for one in silent),
            "Correct `--namesrv`. An access key goes into `--access-key-file`; TLS is `--tls`.",
        )
    if not look.brokers:
        raise EnvironmentNotReady(
            "the name server knows no broker", "Is it the right one? Brokers register every 30 s."
        )
    asked = [one for broker in look.brokers.values() for one in broker.asked] + list(
        look.offset_tables.values()
    )
    if asked and all(one.answer_code is None for one in asked):
        raise EnvironmentNotReady(
            "no broker answers: " + "; ".join(sorted({f"{one.address}: {one.why_not}" for one in asked})),
            "If they advertise addresses that lead nowhere from here: `--map 10.0.0.5:10911=127.0.0.1:20911`.",
        )
