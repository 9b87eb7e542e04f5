"""RocketMQ's dashboard, as a program asks it: the requests behind its pages for messages and consumers.

Read in `MessageController` and `ConsumerController` of rocketmq-dashboard 1.0.0 and 2.1.0. Every answer is JSON
with `status`, 0 or -1, `data`, and `errMsg` where the status is -1; the HTTP status is 200 in either case.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypeVar

import requests

from rocketchaos.harness.core.errors import EnvironmentNotReady

CONNECT_LIMIT_S = 3.0
ANSWER_LIMIT_S = 20.0
"""The dashboard's own requests to servers end after 5 s each, and one answer may take several of them."""
_PIECE = 200
"""The limit of characters shown of an answer that is not understood."""
_SYSTEM_PREFIX = "%SYS%"
"""2.x puts it before the names of RocketMQ's own groups."""
_CACHE_IS_BUILT = "Cache is being built"
Answer = TypeVar("Answer")


class Flavour(StrEnum):
    """How a dashboard is to be asked."""

    ONE = "1.0.0"
    """Brings the tools of 4.9.0, for 4.9.x."""
    TWO = "2.x"
    """Brings the tools of 5.x, for 5.x.

    It needs the address of a broker for connections and progress, and asks that one alone for
    connections. From 2.1.0 on its list of groups is what it was when somebody first asked, until it is refreshed.
    """


class DashboardRefused(EnvironmentNotReady):
    """The dashboard answered that it can't answer (status -1)."""

    def __init__(self, url: str, said: str) -> None:
        """
        Args:
            url: the address that was asked.
            said: its own errMsg; the exception's name, RocketMQ's code and its remark.
        """
        super().__init__(f"the dashboard refuses {url}: {said}", "Its own log says more.")
        self.said = said


@dataclass(frozen=True, slots=True)
class ShownTrack:
    """One group of the track list of a message."""

    group: str
    type: str
    """TrackType: `CONSUMED`, `UNKNOWN`, ..."""
    why: str | None
    """What kept its tools from saying more, as they put it; None: nothing."""


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """One line of the list of consumer groups."""

    group: str
    clients: int
    """Connected consumers."""
    model: str | None
    """`CLUSTERING` or `BROADCASTING`; None: nobody is online."""
    lag: int | None
    """Messages behind, over all topics; None: it doesn't know."""


@dataclass(frozen=True, slots=True)
class ShownSubscription:
    """What it shows of one topic in a group's subscription table."""

    expression: str
    type: str
    """`TAG` or `SQL92`."""
    sub_version: int


@dataclass(frozen=True, slots=True)
class ShownConnections:
    """Who is connected, and the group's subscriptions, as one broker has them."""

    clients: tuple[str, ...]
    subscriptions: Mapping[str, ShownSubscription]
    """By topic, the retry topic included."""
    model: str
    consume_from: str


@dataclass(frozen=True, slots=True)
class ShownQueue:
    """One queue of a group's progress."""

    broker: str
    queue_id: int
    max_offset: int
    consumer_offset: int | None
    """None: the group has none stored."""
    owner: str | None
    """The client id of who consumes it, as the consumers report; None: no consumer reports it."""


class Dashboard:
    """Typed questions to one dashboard.

    Every one raises `DashboardRefused` where the dashboard answers with an error, and `EnvironmentNotReady` where
    it doesn't answer within its limit, or with something else than expected.
    """

    def __init__(self, url: str, flavour: Flavour) -> None:
        """
        Args:
            url: `http://127.0.0.1:8080`.
            flavour: how it is to be asked.
        """
        self.url = url.rstrip("/")
        self.flavour = flavour

    def tracks(self, topic: str, msg_id: str) -> tuple[ShownTrack, ...]:
        """What it shows of a message, for every group that its broker names for the topic.

        Args:
            topic: its real name.
            msg_id: the message's unique id, which the producer gave it: 2.x knows no other, and 1.0.0 takes both.
        """
        return self._ask("/message/viewMessage.query", {"topic": topic, "msgId": msg_id}, _tracks)

    def groups(self) -> tuple[ShownGroup, ...]:
        """All consumer groups, RocketMQ's own included, as they are now."""
        if self.flavour is Flavour.TWO:
            try:
                return self._ask("/consumer/group.refresh.all", {}, _groups)
            except _NoSuchPage:
                pass  # 2.0.0 has no such request, and keeps no list that could grow old
        return self._ask("/consumer/groupList.query", {}, _groups)

    def connections(self, group: str, brokers: Sequence[str]) -> ShownConnections:
        """The group's consumers and its stored subscriptions, by one broker.

        Args:
            group: its real name.
            brokers: the addresses of the group's brokers. 2.x asks the first one, 1.0.0 a broker of its choice.
        """
        wanted = {"consumerGroup": group, **self._address_of(brokers)}
        return self._ask("/consumer/consumerConnection.query", wanted, _connections)

    def progress(self, group: str, brokers: Sequence[str]) -> Mapping[str, tuple[ShownQueue, ...]]:
        """Where the group stands, queue by queue, by topic; arguments as of `connections`.

        2.x asks every broker that the request names, 1.0.0 all that have the group's retry topic.
        """
        wanted = {"consumerGroup": group, **self._address_of(brokers)}
        return self._ask("/consumer/queryTopicByConsumer.query", wanted, _progress)

    def _address_of(self, brokers: Sequence[str]) -> dict[str, str]:
        return {"address": ",".join(brokers)} if self.flavour is Flavour.TWO else {}

    def _ask(self, path: str, parameters: Mapping[str, str], read: Callable[[Any], Answer]) -> Answer:
        return _read(self.url + path, parameters, read)


class _NoSuchPage(EnvironmentNotReady):
    """HTTP 404."""


def dashboard_at(url: str) -> Dashboard:
    """The dashboard of this address, whichever it is: 2.x tells in its list of groups whom it asked.

    Raises:
        EnvironmentNotReady: it doesn't answer, or not as a dashboard does.
    """
    return Dashboard(url, _flavour_at(url.rstrip("/")))


def why_not_ready(url: str) -> str | None:
    """Why the dashboard can't be asked yet, in one line; None if its list of groups is there.

    Its page is there some seconds before it has found its name server.
    """
    try:
        _flavour_at.__wrapped__(url.rstrip("/"))
    except EnvironmentNotReady as failure:
        return failure.message
    return None


@lru_cache(maxsize=64)
def _flavour_at(url: str) -> Flavour:
    try:
        return _read(f"{url}/consumer/groupList.query", {}, _flavour)
    except DashboardRefused as refusal:
        if refusal.said.startswith(_CACHE_IS_BUILT):
            return Flavour.TWO
        raise


def _flavour(groups: Sequence[Mapping[str, Any]]) -> Flavour:
    if not groups:
        raise ValueError("no group, though RocketMQ has some of its own")
    return Flavour.TWO if "address" in groups[0] else Flavour.ONE


def _read(url: str, parameters: Mapping[str, str], read: Callable[[Any], Answer]) -> Answer:
    try:
        response = requests.get(url, params=dict(parameters), timeout=(CONNECT_LIMIT_S, ANSWER_LIMIT_S))
    except requests.RequestException as error:
        raise EnvironmentNotReady(
            f"the dashboard doesn't answer at {url}: {type(error).__name__}",
            "Does it still run? Its own log says more.",
        ) from error
    asked, text = response.url, response.text
    if response.status_code == requests.codes.not_found:
        raise _NoSuchPage(f"there is no {asked}", "Is it RocketMQ's dashboard, 1.0.0 or 2.x?")
    try:
        answer = response.json()
        status = answer["status"]
        if status == 0:
            return read(answer["data"])
        said = str(answer["errMsg"])
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        piece = text[:_PIECE] + ("…" if len(text) > _PIECE else "")
        raise EnvironmentNotReady(
            f"the dashboard's answer to {asked} isn't understood ({type(error).__name__}: {error}): {piece}",
            "Is it RocketMQ's dashboard, 1.0.0 or 2.x, and one that asks for no login?",
        ) from error
    raise DashboardRefused(asked, said)


def _tracks(data: Mapping[str, Any]) -> tuple[ShownTrack, ...]:
    return tuple(
        ShownTrack(str(item["consumerGroup"]), str(item["trackType"]), item["exceptionDesc"])
        for item in data["messageTrackList"]
    )


def _groups(data: Sequence[Mapping[str, Any]]) -> tuple[ShownGroup, ...]:
    return tuple(
        ShownGroup(
            group=str(item["group"]).removeprefix(_SYSTEM_PREFIX),
            clients=int(item["count"]),
            model=item["messageModel"],
            lag=None if int(item["diffTotal"]) < 0 else int(item["diffTotal"]),
        )
        for item in data
    )


def _connections(data: Mapping[str, Any]) -> ShownConnections:
    return ShownConnections(
        clients=tuple(sorted(str(item["clientId"]) for item in data["connectionSet"])),
        subscriptions={
            str(topic): ShownSubscription(
                str(item["subString"]), str(item["expressionType"]), int(item["subVersion"])
            )
            for topic, item in data["subscriptionTable"].items()
        },
        model=str(data["messageModel"]),
        consume_from=str(data["consumeFromWhere"]),
    )


def _progress(data: Sequence[Mapping[str, Any]]) -> Mapping[str, tuple[ShownQueue, ...]]:
    """2.x has a topic once for each broker that it asked."""
    found: dict[str, tuple[ShownQueue, ...]] = {}
    for topic in data:
        name = str(topic["topic"])
        found[name] = (*found.get(name, ()), *map(_queue, topic["queueStatInfoList"]))
    return found


def _queue(item: Mapping[str, Any]) -> ShownQueue:
    own = int(item["consumerOffset"])
    return ShownQueue(
        broker=str(item["brokerName"]),
        queue_id=int(item["queueId"]),
        max_offset=int(item["brokerOffset"]),
        consumer_offset=None if own < 0 else own,
        owner=item["clientInfo"],
    )
