"""What is to be known of each consumer's client: how it consumes, and whose filter counts."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from rocketchaos.assertions.event_view import EventView
from rocketchaos.harness.core.events.clients import ConsumerStarted
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS, Api, ClientKind

_OUTSIDE = {
    "lines": "the lines that it prints",
    "topic": "the entries that it writes into a topic",
    "http": "the answers that it gives to HTTP calls",
    "trace": "the message trace that its client writes",
    "offsets": "its group's offsets alone",
}
_NOT_SHOWN = {
    "lines": "printed no line of it that `sees` finds",
    "topic": "wrote no entry of it",
    "http": "named it in no answer",
    "trace": "wrote no trace of it",
    "offsets": "shows nothing of what it handles",
}
_HOW = {"lines": "printed", "topic": "wrote", "http": "answered", "trace": "traced"}
_API_FIELDS = tuple(name for name in Api.__dataclass_fields__ if name in ConsumerStarted.__struct_fields__)
"""What a start reports about its `Api`."""


class TraitsView(EventView):
    """A run's consumers, by what their clients can and do."""

    def traits(self, consumer: str) -> Api:
        """How a consumer consumes: as its start event says, and where that says nothing, as the scenario does.

        Older histories tell nothing of it, and others only a part. It is the same all through a run.
        """
        return self._traits[consumer]

    def seen_from_outside(self, consumers: Iterable[str]) -> list[str]:
        """Those observed by what they print or write: a missing entry proves nothing, nor does a second one."""
        return [name for name in consumers if self.traits(name).seen_by != "listener"]

    def by_what_seen(self, consumers: Iterable[str]) -> str:
        """The words for how these consumers are observed, all of them `seen_from_outside`."""
        ways = [_OUTSIDE[way] for way in dict.fromkeys(self.traits(name).seen_by for name in consumers)]
        return " or ".join(ways)

    def how_reported(self, consumer: str) -> str:
        """How this one, who is `seen_from_outside`, reports a message: `printed`."""
        return _HOW.get(self.traits(consumer).seen_by, "printed")

    def nothing_shown(self, consumers: Iterable[str]) -> str:
        """That these, who are `seen_from_outside`, didn't show a message: `wrote no entry of it`."""
        ways = [_NOT_SHOWN[way] for way in dict.fromkeys(self.traits(name).seen_by for name in consumers)]
        return " and ".join(ways)

    def kind_of_client(self, consumer: str) -> ClientKind:
        """The kind of its client."""
        kind = CLIENT_KINDS.get(str(self._client(consumer)))
        return kind or self.scenario.consumers[consumer].choice.kind

    def shares_queues(self, group: str) -> bool:
        """Whether any member of the group is served from every queue."""
        return any(self.traits(name).queues == "shared" for name in self.scenario.members(group))

    def why_not_owned(self, consumers: tuple[str, ...], otherwise: str) -> str:
        """Why it can't be said which queues these consumers own; `otherwise` where their clients tell them."""
        shared = [name for name in consumers if self.traits(name).queues == "shared"]
        silent = [name for name in consumers if name not in shared and not self.traits(name).tells_queues]
        if shared:
            return f"{', '.join(shared)} owns no queue: every member is served from all of them"
        if silent:
            return f"the client of {', '.join(silent)} doesn't tell which queues it owns"
        return otherwise

    @cached_property
    def _traits(self) -> dict[str, Api]:
        return {name: self._traits_of(name) for name in self.scenario.consumers}

    def _traits_of(self, consumer: str) -> Api:
        declared, started = self.scenario.consumers[consumer].traits, self._started.get(consumer)
        if started is None:
            return declared
        kind = CLIENT_KINDS.get(str(started.client))
        api = kind.apis.get(str(started.api)) if kind is not None else None
        facts = {name: value for name in _API_FIELDS if (value := getattr(started, name)) is not None}
        # What shows its messages is the program's own, whatever its client's kind is.
        return replace(api or declared, seen_by=declared.seen_by, **facts)

    def _client(self, consumer: str) -> str | None:
        started = self._started.get(consumer)
        return None if started is None else started.client

    @cached_property
    def _started(self) -> dict[str, ConsumerStarted]:
        return {event.node: event.body for event in self.of_kind(ConsumerStarted)}
