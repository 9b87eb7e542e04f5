"""What a bisect found, as text and as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rocketchaos.harness.core.model import SCHEMA_VERSION
from rocketchaos.harness.core.text import seconds_text
from rocketchaos.harness.plan.bisect import Answers, Change, Ending, History, Search
from rocketchaos.harness.plan.candidates import Candidates
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.shares import share
from rocketchaos.harness.scenario.model import Scenario


@dataclass(slots=True)
class Bisected:
    """The search of one scenario, and what came of it."""

    scenario: Scenario
    candidates: Candidates
    search: Search
    reports: dict[str, list[Report]] = field(default_factory=dict)
    """Of every version that was asked."""
    history: History = field(default_factory=lambda: History(Ending.UNDECIDED, (), {}))

    def unknown(self, change: Change) -> list[str]:
        """The versions between both sides of a change of which nothing is known, the oldest first."""
        return self.candidates.ordered(
            [*change.between, *self.candidates.between(change.before, change.first)]
        )


def ending_of(searches: Sequence[Bisected]) -> Ending:
    """What all of them say together."""
    endings = {one.history.ending for one in searches}
    firsts = {change.first for one in searches for change in one.history.changes}
    if Ending.SEVERAL in endings or len(firsts) > 1:
        return Ending.SEVERAL
    if firsts:
        return Ending.FOUND
    return Ending.UNDECIDED if Ending.UNDECIDED in endings else Ending.ALIKE


def as_text(searches: Sequence[Bisected], seconds: float, claim: str = "") -> str:
    """For the console; the last line says what all of it comes to."""
    return "\n".join([*(line for one in searches for line in _lines(one)), _sum(searches, seconds, claim)])


def _lines(one: Bisected) -> Iterator[str]:
    yield one.scenario.name
    width = max(map(len, one.history.answers), default=0)
    for version, answers in one.history.answers.items():
        folder = f"  {one.reports[version][0].folder}" if one.reports.get(version) else ""
        yield f"  {version:<{width}}  {_told(answers) or _silent(one.reports[version])}{folder}"
    for change in one.history.changes:
        yield f"  {_change(one, change)}"
    yield ""


def _told(answers: Answers) -> str:
    """`4 of 4 reproduced (51 to 100 %)`."""
    total = answers.total()
    told = []
    for word, count in answers.most_common():
        low, high = (round(100 * bound) for bound in (share(count, total).low, share(count, total).high))
        told.append(f"{count} of {total} {word} ({low} to {high} %)")
    return ", ".join(told)


def _silent(reports: Sequence[Report]) -> str:
    reason = next((one.outcome.reason.splitlines()[0] for one in reports if one.outcome.reason), "")
    return f"says nothing{f': {reason}' if reason else ''}"


def _change(one: Bisected, change: Change) -> str:
    before, after = (
        one.history.answers[version].most_common(1)[0][0] for version in (change.before, change.first)
    )
    unknown = one.unknown(change)
    between = f"; of {', '.join(unknown)} nothing is known" if unknown else ""
    return f"{before} up to {change.before}, {after} from {change.first} on{between}"


def _sum(searches: Sequence[Bisected], seconds: float, claim: str) -> str:
    what = claim or searches[0].scenario.name
    changes = [(one, change) for one in searches for change in one.history.changes]
    ending = ending_of(searches)
    if ending is Ending.FOUND:
        one, change = changes[0]
        unknown = one.unknown(change)
        might = f", or {' or '.join(unknown)}, of which nothing is known" if unknown else ""
        told = f"RocketMQ {change.first} is the first that answers differently{might}"
    elif ending is Ending.SEVERAL:
        firsts = one_of_each(change.first for _, change in changes)
        told = f"the answer changes more than once, on RocketMQ {', '.join(firsts)}"
    elif ending is Ending.ALIKE:
        asked = one_of_each(version for one in searches for version in one.history.answers)
        told = f"no difference on RocketMQ {', '.join(asked)}"
    else:
        told = "undecided: the versions can't be told apart in so many runs, or say nothing"
    runs = sum(len(own) for one in searches for own in one.reports.values())
    return f"{what}: {told}\n{runs} runs, {seconds_text(seconds)}"


def one_of_each(words: Iterator[str]) -> list[str]:
    """Each once, as they come."""
    return list(dict.fromkeys(words))


def as_document(searches: Sequence[Bisected], seconds: float, claim: str = "") -> Mapping[str, Any]:
    """For programs."""
    return {
        "schema_version": SCHEMA_VERSION,
        "claim": claim or None,
        "ending": ending_of(searches).value,
        "first": one_of_each(change.first for one in searches for change in one.history.changes),
        "seconds": round(seconds, 3),
        "scenarios": [_scenario(one) for one in searches],
    }


def _scenario(one: Bisected) -> Mapping[str, Any]:
    return {
        "scenario": one.scenario.name,
        "ending": one.history.ending.value,
        "changes": [
            {"before": change.before, "first": change.first, "unknown": one.unknown(change)}
            for change in one.history.changes
        ],
        "versions": [
            {
                "rocketmq": version,
                "answers": {word: _share(count, answers.total()) for word, count in answers.most_common()},
                "runs": [str(run.folder) for run in one.reports.get(version, ())],
            }
            for version, answers in one.history.answers.items()
        ],
        "left_out": [
            {"rocketmq": version, "reason": reason} for version, reason in one.candidates.left_out.items()
        ],
    }


def _share(count: int, total: int) -> Mapping[str, Any]:
    known = share(count, total)
    return {"count": count, "total": total, "interval_95": [round(known.low, 6), round(known.high, 6)]}
