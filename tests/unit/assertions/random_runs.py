"""Random histories of one small scenario, in which every check with a number finds something to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from rocketchaos.harness.core.model import Event
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.history_builder import BROKER, HistoryBuilder, scenario_of

SCENARIO: Scenario = scenario_of(
    "name: x\ntitle: t\ntopics: {orders: {queues: 4}, bills: {queues: 1}}\n"
    "consumers:\n  a: {group: g, subscribe: {orders: '*'}}\n  b: {group: g, subscribe: {orders: '*'}}\n"
    "  c: {group: h, subscribe: {bills: '*'}}\n"
    "steps: [{start: [a, b]}]\nanomaly: [{delivered: {to: g, count: 1}}]\nhealthy: [{refuted: anomaly}]\n"
)
LOGGED = "subscription changed, group: g"
BEGIN, END = "offset illegal", "fix the pull request offset"
TIMES_MS = (0, 1, 20, 900, 1000, 5000)
QUEUES = range(4)


@dataclass(frozen=True)
class Attempt:
    """A message comes to a listener; again it is as a retry, or as a repeat."""

    consumer: str
    after_ms: int
    retry: bool
    fails: bool


@dataclass(frozen=True)
class Facts:
    """What happens in a run."""

    messages: tuple[tuple[int, tuple[Attempt, ...]], ...]
    """The queue of each, and its attempts."""
    dead_letters: int
    looks: tuple[tuple[tuple[int | None, int], ...], ...]
    """Own and maximum offset of each queue, at each look."""
    owned: tuple[frozenset[int], frozenset[int]]
    shown_twice: tuple[int, int]
    """Notifications before and after the observation `before`."""
    logged: int
    lines_ms: tuple[tuple[int, bool], ...]
    """Time of each line, and whether it is one that ends a lapse."""
    holders: tuple[str, ...]
    dropped_after_ms: int | None
    pulled: tuple[int, int, int, int]
    codes: tuple[int, ...]
    refusals: tuple[int, ...] = ()
    """RocketMQ's code each time that it refuses a message, and a subscription; the first refuses a start, too."""
    questions: tuple[int, ...] = ()
    """How often a broker asks about each transaction."""


_ATTEMPT = st.builds(
    Attempt, st.sampled_from("ab"), st.sampled_from(TIMES_MS), st.booleans(), st.sampled_from((True, False))
)
_OFFSETS = st.tuples(st.none() | st.integers(0, 4), st.integers(0, 4))
_LOOK = st.tuples(*[_OFFSETS] * len(QUEUES))
_MESSAGE = st.tuples(st.integers(0, 3), st.lists(_ATTEMPT, max_size=3).map(tuple))
FACTS = st.builds(
    Facts,
    messages=st.lists(_MESSAGE, max_size=5).map(tuple),
    dead_letters=st.integers(0, 3),
    looks=st.lists(_LOOK, min_size=1, max_size=3).map(tuple),
    owned=st.tuples(st.frozensets(st.integers(0, 3)), st.frozensets(st.integers(0, 3))),
    shown_twice=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    logged=st.integers(0, 4),
    lines_ms=st.lists(st.tuples(st.sampled_from(TIMES_MS), st.booleans()), max_size=5).map(tuple),
    holders=st.lists(st.sampled_from("ab"), max_size=8).map(tuple),
    dropped_after_ms=st.none() | st.sampled_from(TIMES_MS),
    pulled=st.tuples(*[st.integers(0, 4)] * 4),
    codes=st.lists(st.integers(0, 3), max_size=2).map(tuple),
    refusals=st.lists(st.integers(0, 3), max_size=3).map(tuple),
    questions=st.lists(st.integers(0, 2), max_size=2).map(tuple),
)
RICH = Facts(
    messages=(
        (0, (Attempt("a", 20, False, False), Attempt("b", 0, False, False))),
        (1, (Attempt("b", 0, False, True), Attempt("b", 900, True, False))),
        (1, (Attempt("a", 1000, False, False),)),
        (3, ()),
    ),
    dead_letters=2,
    looks=(((2, 2), (3, 3), (None, 0), (1, 1)), ((1, 2), (2, 3), (None, 0), (1, 2))),
    owned=(frozenset({0, 1}), frozenset({1, 3})),
    shown_twice=(1, 2),
    logged=3,
    lines_ms=((0, False), (900, True), (1000, False), (5000, True)),
    holders=("b",) * 40 + ("a",) * 2,
    dropped_after_ms=None,
    pulled=(3, 1, 4, 2),
    codes=(1, 3),
    refusals=(3, 3, 1),
    questions=(0, 2),
)
"""A run of which every check with a number can tell."""


def events_of(facts: Facts) -> Sequence[Event]:
    """The history, which ends so late that nothing more can come."""
    made = HistoryBuilder().begin(SCENARIO)
    made.events[0].data["timing"] = "compressed"  # type: ignore[index]
    for name in "ab":
        made.start(SCENARIO, name)
    _exchange(made, facts)
    made.at(20.0)
    for look in facts.looks:
        made.offsets("g", "orders", look)
    for number, holder in enumerate(facts.holders):
        made.add("harness", "bound", variable="holder", consumers=[holder], place=[number])
    _refused(made, facts)
    _asked(made, facts)
    _lines(made, facts)
    if facts.dropped_after_ms is not None:
        made.at(30.0).add("harness", "fault-effective", fault="kill", target="b", proof="")
        made.at(30.0 + facts.dropped_after_ms / 1000).stored("g", {"orders": "*"}, ["a"])
    made.at(200.0)
    _ended(made, facts)
    return made.events


def _exchange(made: HistoryBuilder, facts: Facts) -> None:
    offsets = dict.fromkeys(QUEUES, 0)
    for number, (queue, attempts) in enumerate(facts.messages, 1):
        began_s = float(number)
        made.at(began_s).send("orders", "tagA", number, queue, offsets[queue])
        times = 0
        for attempt in attempts:
            began_s += attempt.after_ms / 1000
            times += attempt.retry
            data = {"topic": "orders", "key": f"orders-{number}", "tag": "tagA", "reconsume_times": times}
            data["batch"] = 1 + number % 3
            # The clock only ever goes on.
            made.at(max(began_s, _now_s(made)))
            made.add(
                attempt.consumer, "received", **data, broker=BROKER, queue_id=queue, offset=offsets[queue]
            )
            status = "RECONSUME_LATER" if attempt.fails else "CONSUME_SUCCESS"
            made.add(attempt.consumer, "consumed", key=f"orders-{number}", status=status)
        offsets[queue] += 1


def _now_s(made: HistoryBuilder) -> float:
    return (made.events[-1].mono_ns - 5_000_000_000) / 1e9


def _refused(made: HistoryBuilder, facts: Facts) -> None:
    for number, code in enumerate(facts.refusals):
        refusal = {"error": "no", "code": code, "exceptions": ["MQBrokerException"]}
        if number == 0:
            made.add("c", "consumer-refused", **refusal)
        made.add("a", "subscription-refused", topic="orders", expression="*", **refusal)
        made.add("a", "seek-refused", topic="orders", to="9", **refusal)
        made.add("a", "reply-refused", key=f"refused-{number}", **refusal)
        refused = {"topic": "orders", "key": f"refused-{number}"}
        made.add("producer", "request-answered", **refused, got="exception", **refusal)
        made.add("producer", "recall-refused", **refused, **refusal)
        made.add("producer", "send-failed", **refused, tag=None, **refusal)
    for number, times in enumerate(facts.questions):
        key = f"transaction-{number}"
        made.add("producer", "send-accepted", topic="orders", key=key, tag=None, how="unknown")
        for _ in range(times):
            made.add("producer", "transaction-checked", topic="orders", key=key, state="commit")


def _asked(made: HistoryBuilder, facts: Facts) -> None:
    following, low, high, number = facts.pulled
    ends = {"next_offset": following, "min_offset": low, "max_offset": high}
    answer = {"code": number, "status": "FOUND", "remark": "FOUND"}
    made.add(
        "harness", "pulled", name="p1", **answer, **ends, messages=number, keys=[], took_ms=float(number)
    )
    made.add("a", "client-pulled", name="c1", status="FOUND", next_offset=following, messages=number)
    made.add("harness", "asked", name="ids", of=BROKER, **answer, fields={}, text="body")
    made.add("h1", "heartbeat-sent", client_id="h1", group="g")
    for _ in range(facts.shown_twice[0]):
        made.add("h1", "notified", broker=BROKER, group="g")
    made.add("harness", "moment-observed", moment="before")
    for _ in range(facts.shown_twice[1]):
        made.add("h1", "notified", broker=BROKER, group="g")


def _lines(made: HistoryBuilder, facts: Facts) -> None:
    for time_ms, ends in facts.lines_ms:
        time = f"2026-01-01 00:00:{time_ms // 1000:02d},{time_ms % 1000:03d}"
        made.add("harness", "log-line", of="a", pattern=END if ends else BEGIN, time=time, text="x")


def _ended(made: HistoryBuilder, facts: Facts) -> None:
    online = ["a"] if facts.dropped_after_ms is not None else ["a", "b"]
    made.stored("g", {"orders": "*"}, online, moment="end")
    made.events[-1].data["subscriptions"]["orders"]["codes"] = list(facts.codes)
    made.offsets("g", "orders", facts.looks[-1], moment="end")
    queues = made.events[-1].data["queues"]
    made.add(
        "harness",
        "dashboard-progress-observed",
        group="g",
        topics={"orders": queues},
        error=None,
        moment="end",
    )
    for name, owned in zip("ab", facts.owned, strict=True):
        made.owns(SCENARIO, name, "orders", sorted(owned), moment="end")
    made.add("harness", "dead-letters-observed", group="g", count=facts.dead_letters, moment="end")
    made.add("harness", "log-observed", of=BROKER, pattern=LOGGED, count=facts.logged, moment="end")
    made.add("harness", "moment-observed", moment="end")
    made.add("harness", "run-ended")
