"""Each injection of a fault, with when it took effect and when it was healed: `FaultFact`."""

from collections.abc import Iterator

from rocketchaos.harness.core.events.servers import Fault, FaultEffective, FaultHealed, FaultInjected
from rocketchaos.harness.facts.kinds import FaultFact
from rocketchaos.harness.facts.story import Entry, Story


def fault_facts(story: Story) -> Iterator[FaultFact]:
    """All of a history: the events that follow an injection of the same fault on the same target belong to it."""
    injections: list[list[Entry]] = []
    under_way: dict[tuple[str, str], list[Entry]] = {}
    for entry in story.entries:
        if isinstance(entry.body, FaultInjected):
            under_way[entry.body.identity] = [entry]
            injections.append(under_way[entry.body.identity])
        elif isinstance(entry.body, Fault) and entry.body.identity in under_way:
            under_way[entry.body.identity].append(entry)
    yield from map(_fact, injections)


def _fact(own: list[Entry]) -> FaultFact:
    first = own[0]
    assert isinstance(first.body, Fault)
    effective = [(entry.at_ms, entry.body.proof) for entry in own if isinstance(entry.body, FaultEffective)]
    return FaultFact(
        n=first.n,
        fault=first.body.fault,
        target=first.body.target,
        injected_ms=first.at_ms,
        effective_ms=min((at_ms for at_ms, _ in effective), default=None),
        healed_ms=min((entry.at_ms for entry in own if isinstance(entry.body, FaultHealed)), default=None),
        proof=min((proof for _, proof in effective), default=None),
    )
