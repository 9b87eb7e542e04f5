"""The faults of processes, nodes and the network in a history."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import cast

from rocketchaos.assertions.event_view import EventView
from rocketchaos.harness.core.events.run import Settled
from rocketchaos.harness.core.events.servers import FaultEffective, FaultHealed, NodeReady
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.cluster_needs import SLAVE_SUFFIX
from rocketchaos.harness.language.fault_effects import KILLS, STANDS_STILL, TAKES_AWAY

DISTURBANCES = frozenset(
    {
        "consumer-starting",
        "consumer-started",
        "consumer-stopping",
        "consumer-stopped",
        "subscribed",
        "unsubscribed",
        "sought",
        "listener-released",
        "consumer-suspended",
        "consumer-resumed",
        "topic-deleted",
        "group-deleted",
        "fault-effective",
        "fault-healed",
        "offsets-reset",
        "heartbeat-sent",
    }
)


def in_effect(body: FaultEffective | FaultHealed) -> bool:
    """Whether the fault is in effect from here on."""
    return isinstance(body, FaultEffective)


def group_of(event: Event) -> str | None:
    """The group that an event names; None: its kind names none."""
    group: str | None = getattr(event.body, "group", None)
    return group


class FaultView(EventView):
    """A run's faults, and other events after which a group needs time to settle."""

    @cached_property
    def _faults(self) -> tuple[Event[FaultEffective | FaultHealed], ...]:
        kinds = (FaultEffective.kind, FaultHealed.kind)
        return tuple(
            cast("Event[FaultEffective | FaultHealed]", event) for event in self.events if event.kind in kinds
        )

    def _faults_by(self, at: int) -> Iterator[Event[FaultEffective | FaultHealed]]:
        """The faults that took effect, and those that were healed, by event `at`, in order."""
        return (event for event in self._faults if event.n <= at)

    def paused(self, at: int) -> list[str]:
        """Consumers whose process stands still at event `at`."""
        paused: dict[str, bool] = {}
        for event in self._faults_by(at):
            if event.body.fault in STANDS_STILL:
                paused[event.body.target] = in_effect(event.body)
            elif event.body.fault in KILLS:
                paused[event.body.target] = False
        return [name for name, stands_still in paused.items() if stands_still]

    def nodes_away(self, at: int) -> list[str]:
        """Nodes that are stopped, killed or paused at event `at`.

        None of a broker with another master since: that one has taken their place.
        """
        away: dict[str, bool] = {}
        for event in self.events:
            if event.n > at:
                break
            match event.body:
                case NodeReady():
                    away[event.node] = False
                case FaultEffective(fault=fault, target=target) if fault in TAKES_AWAY:
                    away[target] = True
                case FaultHealed(fault=fault, target=target) if fault in TAKES_AWAY:
                    away[target] = False
                case Settled(condition_id="master", subject=master):
                    broker = master.removesuffix(SLAVE_SUFFIX)
                    away.update(dict.fromkeys((broker, f"{broker}{SLAVE_SUFFIX}"), False))
        return [name for name, is_away in away.items() if is_away and name in self.scenario.cluster.nodes]

    def brokers_disturbed(self, at: int) -> bool:
        """Whether a broker was killed, stopped, restarted or stood still by event `at`."""
        brokers = {*self.scenario.cluster.brokers, *self.scenario.cluster.slave_nodes}
        return any(event.body.target in brokers for event in self.of_kind(FaultEffective, until=at))

    def network_faults(self, at: int) -> list[str]:
        """The faults of the network that are in effect at event `at`, each with its target."""
        active: dict[str, bool] = {}
        for event in self._faults_by(at):
            if event.body.sides:
                fault = f"{event.body.fault} of {event.body.target}"
                active[fault] = in_effect(event.body)
        return [fault for fault, is_active in active.items() if is_active]

    def killed(self, consumers: Iterable[str], at: int) -> list[str]:
        """The consumers in this list that were killed before event `at`."""
        targets = {
            event.body.target for event in self.of_kind(FaultEffective, until=at) if event.body.fault in KILLS
        }
        return [name for name in consumers if name in targets]

    def last_disturbance(
        self, groups: Sequence[str], at: int, kinds: frozenset[str] = DISTURBANCES
    ) -> Event | None:
        """The last event by `at` after which these groups may need time to settle; None: there is none."""
        members = {name for group in groups for name in self.scenario.members(group)}
        found = None
        for event in self.events:
            if event.n > at:
                break
            concerned = event.node in members or group_of(event) in groups
            if isinstance(event.body, FaultEffective | FaultHealed):
                concerned = bool(event.body.ends & (members | set(self.scenario.cluster.nodes)))
            if concerned and event.kind in kinds:
                found = event
        return found
