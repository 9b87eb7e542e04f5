"""`settle` by ownership and by subscription, and what a moment reads, whatever the members' clients tell."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.client_kinds import Api
from harness.cluster_needs import PROXY
from harness.conditions.own_offsets import own_offsets_at_the_end
from harness.conditions.ownership import ownership_settled
from harness.conditions.subscription import SubscriptionSettled
from harness.consumer import Consumer
from harness.context import RunContext
from harness.probes.moment import observe_moment
from harness.probes.offsets import read_offsets
from harness.probes.ownership import read_ownership
from harness.probes.subscription import read_subscription
from harness.workers.handle import WorkerFailed

QUEUES = [("broker-a", number) for number in range(4)]


class Member:
    """A running consumer, as far as conditions and probes look at it."""

    def __init__(self, name: str, tag: str, client: str, api: str, told: dict[str, Any], **more: Any) -> None:
        self.name = name
        spec = Consumer.model_validate(
            {"group": "g", "client": client, "api": api, "subscribe": {"orders": tag}, **more}
        )
        self.spec = SimpleNamespace(
            share=spec.share,
            listener=spec.listener,
            model=spec.model,
            traits=replace(spec.traits, **told),
        )
        self.client_id = f"{name}@t"
        self.subscriptions = {"orders": tag}
        self.topics = ("orders",)
        self.paused = False
        self.queues: list[int] = []
        self.come_to = [0, 0, 0, 0]
        self.version = 1
        self.changes = SimpleNamespace(under_way=lambda *_where: False)

    def flush_events(self) -> None:
        pass

    def assignment(self) -> list[dict[str, Any]]:
        return [{"topic": "orders", "broker": "broker-a", "queue_id": queue} for queue in self.queues]

    def pull_counts(self, topic: str) -> dict[str, int] | None:
        traits: Api = self.spec.traits
        return {"found_pulls": 0, "passed_messages": 0} if traits.counts_pulls else None


class Group:
    """A group on one broker, and what a RunContext is asked of it."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.connected: list[str] | None = None
        self.stored: tuple[int, str] | None = (1, "tagA")
        self.now_ms = 0.0
        self.observed: list[tuple[str, dict[str, Any]]] = []
        self.began_ns: list[int] = []
        self.failed: list[tuple[str, str]] = []
        self.asked: list[str] = []
        self.sent: list[Any] = []

    def add(self, name: str, tag: str, client: str = "java", api: str = "push", **told: Any) -> Member:
        self.members[name] = Member(name, tag, client, api, told)
        return self.members[name]

    def _connection(self, *_where: str) -> dict[str, Any]:
        known = [one.client_id for one in self.members.values()] if self.connected is None else self.connected
        held = {} if self.stored is None else {"orders": self._entry(*self.stored)}
        connections = [{"client_id": one, "address": f"{one}:1"} for one in known]
        return {"connections": connections, "subscriptions": held}

    @staticmethod
    def _entry(version: int, expression: str) -> dict[str, Any]:
        return {"sub_version": version, "expression": expression, "codes": [], "tags": []}

    def _running_info(self, _group: str, client_id: str, *_rest: object) -> dict[str, Any]:
        self.asked.append(client_id.partition("@")[0])
        member = self.members[self.asked[-1]]
        lacks = member.spec.traits.asks_process
        subscribed = self._entry(member.version, member.subscriptions["orders"])
        told = [{**one, "commit_offset": member.come_to[one["queue_id"]]} for one in member.assignment()]
        return {"queues": [] if lacks else told, "subscriptions": {"orders": subscribed}}

    def _offsets(self, _group: str, _topic: str) -> dict[str, Any]:
        stored = {"max_offset": 2, "consumer_offset": None}
        return {"queues": [{"broker": broker, "queue_id": number, **stored} for broker, number in QUEUES]}

    @property
    def context(self) -> RunContext:
        consumers = self.members

        def observe(_what: str, kind: str, data: dict[str, Any], _moment: str | None, began_ns: int) -> None:
            self.observed.append((kind, data))
            self.began_ns.append(began_ns)

        def failed(probe: str, error: str, **_where: str) -> None:
            self.failed.append((probe, error))

        return cast(
            RunContext,
            SimpleNamespace(
                consumers=consumers,
                scenario=SimpleNamespace(
                    consumers={name: SimpleNamespace(group="g") for name in consumers},
                    groups=(),
                    topics={"orders": None},
                    checks=lambda: (),
                ),
                online_members=lambda _group: tuple(consumers),
                running_consumers=lambda: tuple(one for one in consumers.values() if not one.paused),
                hand_made=SimpleNamespace(ids=lambda _group: [], flush=lambda: None),
                brokers_of_group=lambda _group: {"broker-a": ":10911"},
                keepers_of_group=lambda _group: {"broker-a": ":10911"},
                members_at=lambda _group, keeper: () if keeper == PROXY else tuple(consumers),
                broker_addresses={"broker-a": ":10911"},
                admin=SimpleNamespace(
                    connection=self._connection, running_info=self._running_info, offsets=self._offsets
                ),
                producer=SimpleNamespace(acknowledged=self.sent),
                why_not_asked=lambda _topic: None,
                resolve=list,
                routed_queues=lambda _topic: tuple(QUEUES),
                queues=lambda _topic: tuple(QUEUES),
                only_look=lambda _probe: nullcontext(),
                real_topic=str,
                real_group=str,
                name_of_topic=str,
                observe=observe,
                note_probe_failure=failed,
                now_ns=lambda: int(self.now_ms * 1e6),
                down={"broker-a": "paused"},
                log_lines={},
                history=SimpleNamespace(append=lambda *_said: None),
            ),
        )


def two(client: str, api: str = "push", **told: Any) -> Group:
    group = Group()
    group.add("a", "tagA", client, api, **told).queues = [0, 1]
    group.add("b", "tagB", client, api, **told).queues = [2, 3]
    return group


@pytest.mark.parametrize(
    ("listeners", "queues", "settled"),
    [
        (("orderly", "orderly"), [3], True),
        (("orderly", "orderly"), [1], False),
        (("orderly", "orderly"), [0, 3], False),
        (("orderly", "concurrent"), [3], False),
        (("concurrent", "orderly"), [3], False),
        (("concurrent", "concurrent"), [1, 3], True),
    ],
)
def test_an_orderly_member_can_t_own_what_another_orderly_one_has_locked(
    listeners: tuple[str, str], queues: list[int], settled: bool
) -> None:
    """The average gives a the first two queues, the circle b the second and the last."""
    group = Group()
    group.members = {
        "a": Member("a", "tagA", "java", "push", {}, listener=listeners[0]),
        "b": Member("b", "tagA", "java", "push", {}, listener=listeners[1], strategy="average-by-circle"),
    }
    group.members["a"].queues, group.members["b"].queues = [0, 1], queues
    assert ownership_settled(group.context, "g").holds is settled


@pytest.mark.parametrize(("client", "api"), [("java", "push"), ("java", "lite-pull"), ("python", "push")])
def test_those_that_tell_must_own_their_shares(client: str, api: str) -> None:
    group = two(client, api)
    assert ownership_settled(group.context, "g").text == "2 members have their shares"
    group.members["b"].queues = [3]
    assert "b has [broker-a:3] of orders" in ownership_settled(group.context, "g").text


def test_those_that_share_and_tell_must_be_served_from_every_queue() -> None:
    group = two("java", "pop")
    assert not ownership_settled(group.context, "g").holds
    for member in group.members.values():
        member.queues = [-1]  # all of the broker's
    assert ownership_settled(group.context, "g").holds


@pytest.mark.parametrize("api", ["push", "simple"])
def test_those_that_tell_nothing_must_be_known_to_the_broker(api: str) -> None:
    group = two("grpc", api)
    seen = ownership_settled(group.context, "g")
    assert seen.holds
    assert "the brokers know a, b, whose client doesn't tell its queues" in seen.text
    assert group.asked == []
    group.connected = ["a@t"]
    assert not ownership_settled(group.context, "g").holds
    group.connected = ["a@t", "b@t", "c@t"]
    assert not ownership_settled(group.context, "g").holds


def test_in_a_mixed_group_who_shares_still_counts_in_the_others_shares() -> None:
    group = Group()
    a = group.add("a", "tagA")
    group.add("b", "tagB", "grpc")
    a.queues = [0, 1, 2, 3]
    assert not ownership_settled(group.context, "g").holds
    a.queues = [0, 1]
    assert ownership_settled(group.context, "g").holds
    assert set(group.asked) == {"a"}


class Looks:
    def __init__(self, group: Group) -> None:
        self.group = group
        self._condition = SubscriptionSettled(group.context, "g", "orders")

    def after(self, ms: float = 10.0) -> bool:
        """Whether it holds at another look, so much later."""
        self.group.now_ms += ms
        seen = self._condition()
        self.text = seen.text
        return seen.holds


@pytest.mark.parametrize("client", ["java", "python"])
def test_the_newest_of_those_told_must_be_stored_at_two_looks(client: str) -> None:
    group = two(client)
    group.members["b"].version = 5
    looks = Looks(group)
    assert [looks.after(), looks.after()] == [False, False]
    assert looks.text == "broker-a holds subVersion 1, the newest of the members' own is 5"
    group.stored = (5, "tagB")
    assert [looks.after(), looks.after()] == [False, True]
    group.stored = (6, "tagB")  # of nobody who is there
    assert not looks.after()


@pytest.mark.parametrize(
    ("client", "api", "settles"),
    [("java", "push", False), ("java", "lite-pull", True), ("python", "push", True)],
)
def test_what_somebody_left_who_has_gone_stays_where_nobody_will_pass_it(
    client: str, api: str, settles: bool
) -> None:
    """A Java push consumer's next change passes it, and its heartbeat brings that; others' never do."""
    looks = Looks(group := two(client, api))
    group.stored = (6, "tagC")
    assert [looks.after(), looks.after()] == [False, settles]


def test_what_somebody_left_stays_where_those_who_could_pass_it_do_not() -> None:
    looks = Looks(group := two("java"))
    group.stored = (6, "tagC")
    assert [looks.after(), looks.after(9_000)] == [False, False]
    assert "the newest of the members' own is 1: it must stay for 10 s" in looks.text
    group.members["b"].version = 5  # one of them is about to, and didn't yet
    assert [looks.after(2_000), looks.after(9_000), looks.after(2_000)] == [False, False, True]


def test_of_those_that_tell_nothing_what_is_stored_must_be_theirs_and_stay() -> None:
    group = two("grpc")
    group.stored = None
    looks = Looks(group)
    assert [looks.after(), looks.after(5_000)] == [False, False]
    group.stored = (3, "tagC")
    assert [looks.after(), looks.after(5_000)] == [False, False]
    assert "'tagC' is of no member that tells none" in looks.text
    group.stored = (4, "tagB")
    assert [looks.after(), looks.after(1_000)] == [False, False]
    assert "it must stay for 2 s" in looks.text
    group.stored = (5, "tagA")  # the other's settings came
    assert [looks.after(), looks.after(1_500), looks.after(600)] == [False, False, True]


def test_in_a_mixed_group_the_silent_one_s_may_be_newer_and_never_older() -> None:
    group = Group()
    a = group.add("a", "tagA")
    a.queues, a.version = [0, 1], 5
    group.add("b", "tagB", "grpc")
    looks = Looks(group)
    group.stored = (4, "tagB")  # a's heartbeat is yet to come
    assert [looks.after(), looks.after(5_000)] == [False, False]
    group.stored = (6, "tagA")  # a would know of a version of its own
    assert [looks.after(), looks.after(5_000)] == [False, False]
    for stored in ((6, "tagB"), (5, "tagA")):
        group.stored = stored
        assert [looks.after(), looks.after(1_000), looks.after(1_100)] == [False, False, True]


@pytest.mark.parametrize(("client", "settles"), [("grpc", True), ("java", False)])
def test_what_a_paused_member_has_stored_may_stay_unless_it_would_tell(client: str, settles: bool) -> None:
    group = two(client)
    group.members["a"].paused = True
    looks = Looks(group)
    group.stored = (4, "tagA")
    assert [looks.after(), looks.after(5_000), looks.after(15_000)] == [False, settles, settles]


@pytest.mark.parametrize(
    ("client", "api", "told", "asked", "failed"),
    [
        ("java", "push", {}, ["a", "b"], []),
        ("java", "lite-pull", {}, ["a", "b"], []),
        ("python", "push", {}, ["a", "b"], []),
        ("python", "push", {"tells_queues": False}, [], ["its client doesn't tell which queues it owns"] * 2),
        ("grpc", "simple", {}, [], []),
        ("java", "pop", {}, ["a", "b"], []),
    ],
)
def test_a_moment_asks_whom_it_can_and_says_of_whom_it_knows_nothing(
    client: str, api: str, told: dict[str, Any], asked: list[str], failed: list[str]
) -> None:
    group = two(client, api, **told)
    observe_moment(group.context, "end")
    assert group.asked == asked
    assert [error for probe, error in group.failed if probe == "ownership"] == failed
    owned = {data["consumer"]: len(data["queues"]) for kind, data in group.observed if "ownership" in kind}
    assert owned == dict.fromkeys(asked, 2)
    counted = [data["consumer"] for kind, data in group.observed if kind == "pull-counts-observed"]
    assert counted == (["a", "b"] if group.members["a"].spec.traits.counts_pulls else [])


def test_a_member_that_does_not_answer_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    group = two("python")

    def refuses(*_asked: object) -> dict[str, Any]:
        raise WorkerFailed("no answer", 1)

    monkeypatch.setattr(group, "_running_info", refuses)
    observe_moment(group.context, "end")
    assert [error for probe, error in group.failed if probe == "ownership"] == ["no answer"] * 2


@pytest.mark.parametrize(
    ("asked", "look"),
    [
        ("_offsets", lambda context: read_offsets(context, "g", "orders")),
        ("_connection", lambda context: read_subscription(context, "g", "broker-a")),
        ("_running_info", lambda context: read_ownership(context, "a")),
    ],
)
def test_a_look_began_before_anybody_was_asked(
    asked: str, look: Callable[[RunContext], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    group = two("java")
    group.now_ms, answer = 100.0, getattr(group, asked)

    def slowly(*where: str) -> dict[str, Any]:
        group.now_ms += 30
        return cast(dict[str, Any], answer(*where))

    monkeypatch.setattr(group, asked, slowly)
    look(group.context)
    assert (group.began_ns, group.now_ms) == ([100_000_000], 130)


@pytest.mark.parametrize("client", ["java", "python"])
def test_own_offsets_are_at_the_end_once_the_member_says_so_of_each_of_its_queues(client: str) -> None:
    group = two(client)
    seen = own_offsets_at_the_end(group.context, "a", "orders")
    assert (seen.holds, seen.text) == (False, "a has come to broker-a:0 0 of 2, broker-a:1 0 of 2")
    group.members["a"].come_to = [2, 1, 0, 0]
    assert own_offsets_at_the_end(group.context, "a", "orders").text == "a has come to broker-a:1 1 of 2"
    group.members["a"].come_to = [2, 2, 0, 0]
    assert own_offsets_at_the_end(group.context, "a", "orders").holds
    assert not own_offsets_at_the_end(group.context, "b", "orders").holds


def test_own_offsets_are_not_at_an_end_that_the_queue_does_not_show_yet() -> None:
    group = two("java")
    group.members["a"].come_to = [2, 2, 0, 0]
    where = {"topic": "orders", "broker": "broker-a", "queue_id": 0, "queue_offset": 2}
    group.sent = [SimpleNamespace(key="orders-9", **where)]
    seen = own_offsets_at_the_end(group.context, "a", "orders")
    assert (seen.holds, seen.text) == (False, "the queue broker-a:0 doesn't show orders-9 yet")


def test_own_offsets_of_a_queue_whose_end_nobody_tells_are_not_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where its broker is down, and the name server has forgotten it."""
    group = two("java")
    group.members["a"].come_to = [2, 2, 0, 0]
    first = group._offsets("g", "orders")["queues"][:1]
    monkeypatch.setattr(group, "_offsets", lambda *_asked: {"queues": first})
    seen = own_offsets_at_the_end(group.context, "a", "orders")
    assert not seen.holds
    assert seen.text == "no broker tells the end of broker-a:1, which a has"


def test_own_offsets_of_who_has_no_queue_or_does_not_answer_are_not_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = two("java")
    group.members["a"].queues = []
    assert own_offsets_at_the_end(group.context, "a", "orders").text == "a tells no offset of orders"

    def refuses(*_unused: object) -> dict[str, Any]:
        raise WorkerFailed("not connected", code=206)

    monkeypatch.setattr(group, "_running_info", refuses)
    seen = own_offsets_at_the_end(group.context, "a", "orders")
    assert not seen.holds
    assert "did not report its queues" in seen.text
