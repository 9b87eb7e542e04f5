"""The faults of processes, and of disks, as a night draws them: from their registration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketchaos.harness.language.cluster_needs import NAMESERVER
from rocketchaos.harness.language.fault_kind import BROKER, CONSUMER, DISK, NAME_SERVER, PRODUCER, Drawn
from rocketchaos.harness.language.fault_registry import FAULT_KINDS
from rocketchaos.harness.language.producer_spec import PRODUCER as THE_PRODUCER
from rocketchaos.harness.nightly.operations.base import MemberOperation, NodeOperation, Operation, route

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Member, Step


@dataclass(eq=False)
class _FaultOperation:
    """One that does a fault and ends it."""

    fault: str
    """The word of its step."""
    drawn: Drawn

    def __post_init__(self) -> None:
        self.name = self.drawn.name
        self.meaning = self.drawn.meaning
        self.weight = self.drawn.weight

    def _tell(self, draft: Draft, who: str) -> None:
        draft.story.append(f"{who} {self.drawn.happens}")


class _OfMember(_FaultOperation, MemberOperation):
    def _candidates(self, draft: Draft, group: str) -> list[Member]:
        return draft.killable(group) if self.drawn.own_process else draft.running(group)

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(self._candidates(draft, group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        member = draft.rng.choice(self._candidates(draft, group))
        self._tell(draft, member.name)
        if self.drawn.lasts_ms is None:
            return [*draft.gone(self.fault, [member]), *draft.comes_back([member])]
        wait = draft.wait(*self.drawn.lasts_ms, self.drawn.because)
        return [{self.fault: member.name}, *wait, {self.drawn.back: member.name}]


class _OfProducer(_FaultOperation, MemberOperation):
    """There is one in every run."""

    sendings_may_fail = True

    def possible(self, draft: Draft, group: str) -> bool:
        del draft, group
        return True

    def play(self, draft: Draft, group: str) -> list[Step]:
        del group
        self._tell(draft, "the producer")
        wait = draft.wait(0, 2000, "so long nothing is sent")
        return [{self.fault: THE_PRODUCER}, *wait, {self.drawn.back: THE_PRODUCER}]


class _OfServer(_FaultOperation, NodeOperation):
    """Then routes are back."""

    def play(self, draft: Draft, group: str) -> list[Step]:
        del group
        of_name_server = self.drawn.of == NAME_SERVER
        server = NAMESERVER if of_name_server else draft.rng.choice(draft.brokers)
        self._tell(draft, "the name server" if of_name_server else server)
        steps: list[Step] = [{self.fault: server}]
        if self.drawn.lasts_ms is not None:
            steps += draft.wait(*self.drawn.lasts_ms, self.drawn.because)
        if self.drawn.back:
            steps.append({self.drawn.back: server})
        return [*steps, *route(draft)]


_KINDS: Mapping[str, Callable[[str, Drawn], Operation]] = {
    CONSUMER: _OfMember,
    PRODUCER: _OfProducer,
    BROKER: _OfServer,
    NAME_SERVER: _OfServer,
    DISK: _OfServer,
}


def operations_of(target: str) -> tuple[Operation, ...]:
    """Those that do something to consumers, to the producer, to brokers, to the name server or to disks."""
    return tuple(
        _KINDS[target](word, drawn)
        for word, kind in FAULT_KINDS.items()
        for drawn in kind.drawn
        if drawn.of == target
    )
