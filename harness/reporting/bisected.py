"""What a bisect found, as text and as a document."""

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
        """The versions between both sides of a change that are still unknown, the oldest first."""
        return self.candidates.ordered(
            [*change.between, *self.candidates.between(change.before, change.first)]
        )


def ending_of(searches: Sequence[Bisected]) -> Ending:
    """What all of them say together."""
    endings = {search.history.ending for search in searches}
    firsts = {change.first for search in searches for change in search.history.changes}
    if Ending.SEVERAL in endings or len(firsts) > 1:
        return Ending.SEVERAL
    if firsts:
        return Ending.FOUND
    return Ending.UNDECIDED if Ending.UNDECIDED in endings else Ending.ALIKE


def as_text(searches: Sequence[Bisected], seconds: float, claim: str = "") -> str:
    """For the console; the last line says what all of it comes to."""
    return "\n".join(
        [*(line for search in searches for line in _lines(search)), _sum(searches, seconds, claim)]
    )


def _lines(bisected: Bisected) -> Iterator[str]:
    yield bisected.scenario.name
    width = max(map(len, bisected.history.answers), default=0)
    for version, answers in bisected.history.answers.items():
        folder = f"  {bisected.reports[version][0].folder}" if bisected.reports.get(version) else ""
        yield f"  {version:<{width}}  {_in_words(answers) or _silent(bisected.reports[version])}{folder}"
    for change in bisected.history.changes:
        yield f"  {_change(bisected, change)}"
    yield ""


def _in_words(answers: Answers) -> str:
    """`4 of 4 reproduced (51 to 100 %)`."""
    total = answers.total()
    found = []
    for word, count in answers.most_common():
        low, high = (round(100 * bound) for bound in (share(count, total).low, share(count, total).high))
        found.append(f"{count} of {total} {word} ({low} to {high} %)")
    return ", ".join(found)


def _silent(reports: Sequence[Report]) -> str:
    reason = next((report.outcome.reason.splitlines()[0] for report in reports if report.outcome.reason), "")
    return f"says nothing{f': {reason}' if reason else ''}"


def _change(bisected: Bisected, change: Change) -> str:
    before, after = (
        bisected.history.answers[version].most_common(1)[0][0] for version in (change.before, change.first)
    )
    unknown = bisected.unknown(change)
    between = f"; of {', '.join(unknown)} nothing is known" if unknown else ""
    return f"{before} up to {change.before}, {after} from {change.first} on{between}"


def _sum(searches: Sequence[Bisected], seconds: float, claim: str) -> str:
    what = claim or searches[0].scenario.name
    changes = [(search, change) for search in searches for change in search.history.changes]
    ending = ending_of(searches)
    if ending is Ending.FOUND:
        item, change = changes[0]
        unknown = item.unknown(change)
        might = f", or {' or '.join(unknown)}, of which nothing is known" if unknown else ""
        text = f"RocketMQ {change.first} is the first that answers differently{might}"
    elif ending is Ending.SEVERAL:
        firsts = one_of_each(change.first for _, change in changes)
        text = f"the answer changes more than once, on RocketMQ {', '.join(firsts)}"
    elif ending is Ending.ALIKE:
        asked = one_of_each(version for search in searches for version in search.history.answers)
        text = f"no difference on RocketMQ {', '.join(asked)}"
    else:
        text = "undecided: the versions don't differ clearly in this many runs, or show nothing"
    runs = sum(len(own) for search in searches for own in search.reports.values())
    return f"{what}: {text}\n{runs} runs, {seconds_text(seconds)}"


def one_of_each(words: Iterator[str]) -> list[str]:
    """Each once, as they come."""
    return list(dict.fromkeys(words))


def as_document(searches: Sequence[Bisected], seconds: float, claim: str = "") -> Mapping[str, Any]:
    """For programs."""
    return {
        "schema_version": SCHEMA_VERSION,
        "claim": claim or None,
        "ending": ending_of(searches).value,
        "first": one_of_each(change.first for search in searches for change in search.history.changes),
        "seconds": round(seconds, 3),
        "scenarios": [_scenario(search) for search in searches],
    }


def _scenario(bisected: Bisected) -> Mapping[str, Any]:
    return {
        "scenario": bisected.scenario.name,
        "ending": bisected.history.ending.value,
        "changes": [
            {"before": change.before, "first": change.first, "unknown": bisected.unknown(change)}
            for change in bisected.history.changes
        ],
        "versions": [
            {
                "rocketmq": version,
                "answers": {word: _share(count, answers.total()) for word, count in answers.most_common()},
                "runs": [str(run.folder) for run in bisected.reports.get(version, ())],
            }
            for version, answers in bisected.history.answers.items()
        ],
        "left_out": [
            {"rocketmq": version, "reason": reason}
            for version, reason in bisected.candidates.left_out.items()
        ],
    }


def _share(count: int, total: int) -> Mapping[str, Any]:
    known = share(count, total)
    return {"count": count, "total": total, "interval_95": [round(known.low, 6), round(known.high, 6)]}
