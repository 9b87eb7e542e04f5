"""`settle` by ownership and by subscription, and what a moment reads, whatever the members' clients tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from rocketchaos.harness.conditions.ownership_settled import ownership_settled
from rocketchaos.harness.conditions.subscription_settled import SubscriptionSettled
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.probes.context import ProbeContext
from rocketchaos.harness.probes.moment import observe_moment
from rocketchaos.harness.probes.offsets_probe import read_offsets
from rocketchaos.harness.probes.ownership_probe import read_ownership
from rocketchaos.harness.probes.subscription_probe import read_subscription
from rocketchaos.harness.rocketmq.client_kinds import client_choice
from tests.unit.conditions.groups import Group, Member, two


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


@pytest.mark.parametrize(
    ("client", "api"), [("java", "push"), ("java", "lite-pull"), ("python", "push"), ("go", "push")]
)
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
def test_the_newest_reported_must_be_stored_at_two_looks(client: str) -> None:
    group = two(client)
    group.members["b"].version = 5
    looks = Looks(group)
    assert [looks.after(), looks.after()] == [False, False]
    assert looks.text == "broker-a holds subVersion 1, the newest of the members' own is 5"
    group.stored = (5, "tagB")
    assert [looks.after(), looks.after()] == [False, True]
    group.stored = (6, "tagB")  # of nobody who is there
    assert not looks.after()


def test_a_program_of_the_user_s_may_yet_subscribe_to_the_topic() -> None:
    group = two("java")
    for member in group.members.values():
        member.spec.choice = client_choice("app")
        member.subscriptions, member.topics = {}, ()
    looks = Looks(group)
    assert [looks.after(), looks.after()] == [False, False]
    assert looks.text == "no member has subscribed to orders yet"
    for member in group.members.values():
        member.subscriptions, member.topics = {"orders": "tagA"}, ("orders",)
    assert [looks.after(), looks.after()] == [False, True]


@pytest.mark.parametrize(
    ("client", "api", "settles"),
    [
        ("java", "push", False),
        ("java", "lite-pull", True),
        ("python", "push", True),
        ("go", "push", False),
    ],
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
    ("client", "api", "text", "asked", "failed"),
    [
        ("java", "push", {}, ["a", "b"], []),
        ("java", "lite-pull", {}, ["a", "b"], []),
        ("python", "push", {}, ["a", "b"], []),
        ("go", "push", {}, [], []),
        ("python", "push", {"tells_queues": False}, [], ["its client doesn't tell which queues it owns"] * 2),
        ("grpc", "simple", {}, [], []),
        ("java", "pop", {}, ["a", "b"], []),
    ],
)
def test_a_moment_asks_whom_it_can_and_says_of_whom_it_knows_nothing(
    client: str, api: str, text: dict[str, Any], asked: list[str], failed: list[str]
) -> None:
    group = two(client, api, **text)
    observe_moment(group.context, "end")
    assert group.asked == asked
    assert [error for probe, error in group.failed if probe == "ownership"] == failed
    owned = {data["consumer"]: len(data["queues"]) for kind, data in group.observed if "ownership" in kind}
    by_process = group.members["a"].traits.process_tells_all
    assert owned == dict.fromkeys(["a", "b"] if by_process else asked, 2)
    counted = [data["consumer"] for kind, data in group.observed if kind == "pull-counts-observed"]
    assert counted == (["a", "b"] if group.members["a"].traits.counts_pulls else [])


def test_a_member_that_does_not_answer_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    group = two("python")

    def refuses(*_asked: object) -> dict[str, Any]:
        raise RequestFailed("no answer", 1)

    monkeypatch.setattr(group, "_running_info", refuses)
    observe_moment(group.context, "end")
    assert [error for probe, error in group.failed if probe == "ownership"] == ["no answer"] * 2


def test_members_of_one_id_that_are_programs_of_the_user_s_can_not_be_asked() -> None:
    group = two("java")
    for member in group.members.values():
        member.spec.choice = client_choice("app")
        member.client_id = "ip@DEFAULT"
    seen = ownership_settled(group.context, "g")
    assert not seen.holds
    assert "a did not report its queues: it has the same client id as another member, ip@DEFAULT" in seen.text


@pytest.mark.parametrize(
    ("asked", "look"),
    [
        ("_offsets", lambda context: read_offsets(context, "g", "orders")),
        ("_connection", lambda context: read_subscription(context, "g", "broker-a")),
        ("_running_info", lambda context: read_ownership(context, "a")),
    ],
)
def test_a_look_began_before_anybody_was_asked(
    asked: str, look: Callable[[ProbeContext], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    group = two("java")
    group.now_ms, answer = 100.0, getattr(group, asked)

    def slowly(*where: str) -> dict[str, Any]:
        group.now_ms += 30
        return cast(dict[str, Any], answer(*where))

    monkeypatch.setattr(group, asked, slowly)
    look(group.context)
    assert (group.began_ns, group.now_ms) == ([100_000_000], 130)
