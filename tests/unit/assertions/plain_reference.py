"""What each check with a number says of a run, evaluated from the bare events and as plainly as can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

from rocketchaos.harness.core.intervals import wilson_interval
from rocketchaos.harness.core.model import Event

Stated = Mapping[str, Any]
"""The keys of a check that are given, durations in milliseconds."""
Events = Sequence[Event]


def within(number: float, stated: Stated, what: str = "") -> bool:
    """Whether a number keeps `<what>at_least` and `<what>at_most`, and `count` of a bare one."""
    if stated.get(f"{what}at_least") is not None and number < stated[f"{what}at_least"]:
        return False
    if stated.get(f"{what}at_most") is not None and number > stated[f"{what}at_most"]:
        return False
    return what != "" or stated.get("count") is None or number == stated["count"]


def of_kind(events: Events, kind: str) -> list[Event]:
    return [event for event in events if event.kind == kind]


def at_the_end(events: Events, kind: str) -> Event:
    return next(event for event in events if event.kind == kind and event.data.get("moment") == "end")


def deliveries(events: Events) -> dict[str, list[Event]]:
    """By key, in order of time."""
    found = sorted(of_kind(events, "received"), key=lambda event: (event.data["key"], event.mono_ns))
    return {key: list(own) for key, own in groupby(found, key=lambda event: str(event.data["key"]))}


def delivered(events: Events, stated: Stated) -> bool:
    return within(len(deliveries(events)), stated)


def batch(events: Events, stated: Stated) -> bool | None:
    sizes = [event.data["batch"] for event in of_kind(events, "received") if event.node == stated["to"]]
    return within(max(sizes), stated) if sizes else None


def undelivered(events: Events, stated: Stated) -> bool:
    return within(len(of_kind(events, "sent")) - len(deliveries(events)), stated)


def duplicated(events: Events, stated: Stated) -> bool:
    again = 0
    for own in deliveries(events).values():
        times = [event.data["reconsume_times"] for event in own]
        often = sum(time <= max(times[:index]) for index, time in enumerate(times) if index)
        again += often >= stated.get("times", 1)
    return within(again, stated)


def retry(events: Events, stated: Stated) -> bool:
    number, in_time = 0, True
    for own in deliveries(events).values():
        for before, again in pairwise(own):
            times = again.data["reconsume_times"]
            if times <= before.data["reconsume_times"] or stated.get("reconsume_times") not in (None, times):
                continue
            number += 1
            answered = events[before.n]  # a listener's answer is the next event here
            in_time &= within((again.mono_ns - answered.mono_ns) / 1e6, stated, "after_")
    return in_time and within(number, stated)


def latency(events: Events, stated: Stated) -> bool:
    invoked = {event.data["key"]: event.mono_ns for event in of_kind(events, "send-invoked")}
    took_ms = [(own[0].mono_ns - invoked[key]) / 1e6 for key, own in deliveries(events).items()]
    keeping = [item for item in took_ms if within(item, stated)]
    return len(keeping) / len(took_ms) >= stated.get("percentile", 100) / 100


def dead_letter(events: Events, stated: Stated) -> bool:
    return within(at_the_end(events, "dead-letters-observed").data["count"], stated)


def placed(events: Events, stated: Stated) -> bool | None:
    queues = [event.data["queue_id"] for event in of_kind(events, "sent")]
    if stated.get("number") is not None:
        queues = queues[stated["number"] - 1 :][:1]
    if not queues:
        return None
    counts = {queue: queues.count(queue) for queue in queues}
    return (
        stated.get("queues") in (None, sorted(counts))
        and (stated.get("each") is None or all(count == stated["each"] for count in counts.values()))
        and within(len(counts), stated, "queues_")
        and within(max(counts.values()), stated, "most_")
    )


def _lag(queues: Sequence[Mapping[str, Any]]) -> int:
    return sum(queue["max_offset"] - (queue["consumer_offset"] or 0) for queue in queues)


def offsets(events: Events, stated: Stated) -> bool:
    queues = at_the_end(events, "offsets-observed").data["queues"]
    behind = [queue["max_offset"] - (queue["consumer_offset"] or 0) for queue in queues]
    if min(behind) < 0:
        return max(behind) <= 0 and stated.get("lag") == sum(behind)
    return stated.get("lag") in (None, sum(behind)) and within(sum(behind), stated, "lag_")


def dashboard(events: Events, stated: Stated) -> bool:
    return _lag(at_the_end(events, "dashboard-progress-observed").data["topics"]["orders"]) == stated["lag"]


def offset_falls(events: Events, stated: Stated) -> bool:
    falls = 0
    for queue in range(4):
        seen = [
            event.data["queues"][queue]["consumer_offset"] for event in of_kind(events, "offsets-observed")
        ]
        known = [offset for offset in seen if offset is not None]
        falls += sum(later < before for before, later in pairwise(known))
    return within(falls, stated)


def subscription(events: Events, stated: Stated) -> bool:
    data = at_the_end(events, "subscription-observed").data
    return stated.get("clients") in (None, len(data["clients"])) and stated.get("codes") in (
        None,
        sorted(data["subscriptions"]["orders"]["codes"]),
    )


def _owned(events: Events, consumer: str) -> list[int]:
    looks = of_kind(events, "ownership-observed")
    own = next(event for event in looks if event.data["consumer"] == consumer)
    return [item["queue_id"] for item in own.data["queues"]]


def ownership(events: Events, stated: Stated) -> bool:
    own = _owned(events, "a")
    return stated.get("count") in (None, len(own)) and stated.get("queues") in (None, sorted(own))


def several_owners(events: Events, stated: Stated) -> bool:
    killed = any(event.data["fault"] == "kill" for event in of_kind(events, "fault-effective"))
    several = set() if killed else set(_owned(events, "a")) & set(_owned(events, "b"))
    return within(len(several), stated)


def outcome_distribution(events: Events, stated: Stated) -> bool | None:
    values = [event.data["consumers"][0] for event in of_kind(events, "bound")]
    if not within(len(set(values)), stated, "values_"):
        return False
    low, high = wilson_interval(values.count("b"), len(values))
    whole = within(low, stated, "share_"), within(high, stated, "share_")
    apart = (stated.get("share_at_least") or 0) > high or low > stated.get("share_at_most", 1)
    return False if apart else True if all(whole) else None


def pull(events: Events, stated: Stated) -> bool:
    (event,) = of_kind(events, "pulled")
    exact = ("code", "next_offset", "min_offset", "max_offset", "messages")
    return all(stated.get(key) in (None, event.data[key]) for key in exact) and within(
        event.data["took_ms"], stated, "took_"
    )


def client_pull(events: Events, stated: Stated) -> bool:
    return bool(of_kind(events, "client-pulled")[0].data["next_offset"] == stated["next_offset"])


def answer(events: Events, stated: Stated) -> bool:
    return bool(of_kind(events, "asked")[0].data["code"] == stated["code"])


def notified(events: Events, stated: Stated) -> bool:
    before = next(event.n for event in events if event.data.get("moment") == "before")
    return within(sum(event.n > before for event in of_kind(events, "notified")), stated)


def dropped(events: Events, stated: Stated) -> bool:
    (gone,) = of_kind(events, "fault-effective")
    looks = [event for event in of_kind(events, "subscription-observed") if event.n > gone.n]
    return within((looks[0].mono_ns - gone.mono_ns) / 1e6, stated)


def log(events: Events, stated: Stated) -> bool:
    return within(at_the_end(events, "log-observed").data["count"], stated)


def log_lapse(events: Events, stated: Stated) -> bool | None:
    def times(pattern: str) -> list[float]:
        lines = [event for event in of_kind(events, "log-line") if event.data["pattern"] == pattern]
        return sorted({float(event.data["time"][-6:].replace(",", ".")) * 1000 for event in lines})

    begins, ends = times("offset illegal"), times("fix the pull request offset")
    lapses = [
        min(end for end in ends if end >= begin) - begin for begin in begins if begin <= max(ends, default=-1)
    ]
    if len(lapses) < stated.get("times", 1):
        return None
    return all(within(round(lapse), stated) for lapse in lapses)


COUNTED = ("send-failed", "recall-refused", "reply-refused", "request-answered")
"""Refusals of which a check counts how many there are."""


def refusals(kind: str) -> Callable[[Events, Stated], bool]:
    def reference(events: Events, stated: Stated) -> bool:
        codes = [event.data["code"] for event in of_kind(events, kind)]
        fitting = [code for code in codes if stated.get("code") in (None, code)]
        return within(len(fitting), stated) if kind in COUNTED else bool(fitting)

    return reference


def transaction_checked(events: Events, stated: Stated) -> bool:
    return within(len(of_kind(events, "transaction-checked")), stated)


REFERENCE: Mapping[str, Callable[[Events, Stated], bool | None]] = {
    "delivered": delivered,
    "batch": batch,
    "undelivered": undelivered,
    "duplicated": duplicated,
    "retry": retry,
    "latency": latency,
    "dead-letter": dead_letter,
    "placed": placed,
    "offsets": offsets,
    "dashboard": dashboard,
    "offset-falls": offset_falls,
    "subscription": subscription,
    "ownership": ownership,
    "several-owners": several_owners,
    "outcome-distribution": outcome_distribution,
    "pull": pull,
    "client-pull": client_pull,
    "answer": answer,
    "notified": notified,
    "dropped": dropped,
    "log": log,
    "log-lapse": log_lapse,
    "start-refused": refusals("consumer-refused"),
    "subscribe-refused": refusals("subscription-refused"),
    "seek-refused": refusals("seek-refused"),
    "send-refused": refusals("send-failed"),
    "recall-refused": refusals("recall-refused"),
    "replied": refusals("request-answered"),
    "reply-refused": refusals("reply-refused"),
    "transaction-checked": transaction_checked,
}
"""By word; None: it can't be said."""
