"""Transactions that stay undecided: their messages reach no consumer."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.checks.cluster import now_ms
from rocketchaos.harness.diagnose.checks.delays import unanswered
from rocketchaos.harness.diagnose.collect import consumed_topics
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result
from rocketchaos.harness.diagnose.model import Backlog
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.view import ClusterView
from rocketchaos.harness.diagnose.words import clock, counted, joined

_CHECK_EVERY_MS = 60_000
"""transactionCheckInterval (4.9.4; 30 s from 5.0 on)."""


@dataclass(frozen=True, slots=True)
class _Half:
    """One half message."""

    topic: str
    producers: str
    """Their group."""
    checked: int
    born_ms: int
    age_ms: float
    """Since its last check, which stored it again."""
    exchange: Exchange


def undecided(view: ClusterView) -> Iterator[Result]:
    """Half messages that were checked without success, by broker and producer group."""
    silent = {name: item for name, known in view.now.backlogs.items() for item in _silent(known)}
    yield from unanswered("transactions", silent)
    for name, backlog in view.now.backlogs.items():
        by_producers: dict[str, list[_Half]] = {}
        every_ms = _every_ms(view, name)
        for half in _halves(view, name, backlog):
            if half.checked or half.age_ms > 3 * every_ms or _is_nobodys(backlog, half.producers):
                by_producers.setdefault(half.producers, []).append(half)
        for producers, halves in sorted(by_producers.items()):
            found = _found(name, backlog, producers, halves, every_ms)
            others = view.named and not _consumed(view) & {half.topic for half in halves}
            yield replace(found, level=Level.INFO, effect=_OF_OTHERS) if others else found


def _consumed(view: ClusterView) -> set[str]:
    """The topics of the groups of this diagnosis."""
    return {topic for look in view.looks for group in look.stored for topic in consumed_topics(look, group)}


def _is_nobodys(backlog: Backlog, producers: str) -> bool:
    """Whether no member of the producer group is connected, whom the broker could ask."""
    answer = backlog.producers.get(producers)
    return answer is not None and answer.answer_code is not None and not read.stored(answer).connections


def _halves(view: ClusterView, broker: str, backlog: Backlog) -> Iterator[_Half]:
    """Each once: while a broker checks them, its queue also has those that it has just stored again."""
    newest: dict[int, _Half] = {}
    for number, item in enumerate(item for item in backlog.transactions if item.document):
        # A bundle of an older version has no hash of the id.
        known = whole(read.mapping(item.document).get("idHash")) or -number - 1
        newest[known] = _half(view, broker, item)
    yield from newest.values()


def _half(view: ClusterView, broker: str, exchange: Exchange) -> _Half:
    document = read.mapping(exchange.document)
    stored_ms = whole(document.get("storedAt"))
    return _Half(
        str(document.get("topic", "")),
        str(document.get("producerGroup", "")),
        whole(document.get("checked")),
        whole(document.get("bornAt")),
        now_ms(view, broker, exchange) - stored_ms,
        exchange,
    )


def _every_ms(view: ClusterView, broker: str) -> int:
    interval_ms = whole(view.now.brokers[broker].config.get("transactionCheckInterval"))
    return interval_ms if interval_ms > 0 else _CHECK_EVERY_MS


def _found(broker: str, backlog: Backlog, producers: str, halves: Sequence[_Half], every_ms: int) -> Found:
    answer = backlog.producers.get(producers)
    members = read.stored(answer).connections if answer is not None else ()
    nobody = _is_nobodys(backlog, producers)
    topics = Counter(half.topic for half in halves)
    most = max(half.checked for half in halves)
    checks = f"checked up to {counted(most, 'time')}" if most else "not checked yet"
    who = (
        f"no member of {producers} is connected to {broker}"
        if nobody
        else f"connected are {joined(sorted({item.client_id for item in members}))}"
    )
    more = _more(backlog)
    return Found(
        f"{broker} keeps {counted(len(halves), 'half message')} of {joined(sorted(topics))} from producer group "
        f"{producers}{more}, sent since {clock(min(half.born_ms for half in halves))}, {checks}; {who}",
        (
            *(
                Evidence(
                    half.exchange, f"producer group {producers}, checked {counted(half.checked, 'time')}"
                )
                for half in halves[:3]
            ),
            *([Evidence(answer, "members of the producer group")] if answer is not None else []),
        ),
        next(iter(topics)) if len(topics) == 1 else "",
        level=Level.ERROR if nobody else None,
        effect=_NOBODY if nobody else "",
        # One that was just decided stays until the next check.
        settled=most > (0 if nobody else 1) or max(half.age_ms for half in halves) > 3 * every_ms,
        key=f"{broker} {producers}",
        lasts_s=every_ms / 1000 + 5,
    )


def _more(backlog: Backlog) -> str:
    """How many half messages were not read, as a phrase."""
    entries = backlog.half_entries
    if entries is None:
        return ""
    end = whole(read.mapping(entries.document).get("maxQueueIndex"))
    left = end - whole(entries.fields.get("index")) - len(backlog.transactions)
    return f" ({counted(left, 'further half message')} not read)" if left > 0 else ""


def _silent(backlog: Backlog) -> Iterator[Exchange]:
    for item in (backlog.half, *backlog.transactions, *backlog.producers.values()):
        # An unknown producer group is an answer, and so is an unknown topic.
        if item.answer_code is None or (
            item.answer_code not in (0, read.NO_TOPIC) and "producerGroup" not in item.fields
        ):
            yield item


_OF_OTHERS = "None for the groups of this diagnosis: they don't consume the topic."
_NOBODY = (
    "Nobody decides these transactions. After transactionCheckMax checks (default 15) the broker puts them into "
    "TRANS_CHECK_MAX_TIME_TOPIC: no consumer ever gets the messages."
)

CHECKS = (
    Check(
        "RC0813",
        "transactions stay undecided",
        Level.WARNING,
        "no transaction stays undecided",
        "Consumers don't get the messages before their producer commits. After transactionCheckMax checks "
        "(default 15) the broker gives up: then they never do.",
        (
            "Start a producer of that group again: brokers ask any member of it.",
            "If one runs, its checkLocalTransaction answers UNKNOW, throws, or hangs: read its log.",
            "A proxy in cluster mode has to know the producer: it sends the group's heartbeat to the brokers.",
        ),
        of_cluster=undecided,
    ),
)
