"""What was done to processes, nodes and the network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocketchaos.assertions.event_view import EventView
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.fault_registry import KILLS, STANDS_STILL, TAKES_AWAY

DISTURBANCES = frozenset(
    {
        "consumer-starting",
        "consumer-started",
        "consumer-stopping",
        "consumer-stopped",
        "subscribed",
        "unsubscribed",
        "listener-released",
        "fault-effective",
        "fault-healed",
        "offsets-reset",
        "heartbeat-sent",
    }
)


class FaultView(EventView):
    """A run's faults, and whatever else needs time to settle."""

    def paused(self, at: int) -> list[str]:
        """Consumers whose process stands still at event `at`."""
        paused: dict[str, bool] = {}
        for event in self.events:
            if event.n <= at and event.kind in ("fault-effective", "fault-healed"):
                if event.data["fault"] in STANDS_STILL:
                    paused[event.data["target"]] = event.kind == "fault-effective"
                elif event.data["fault"] in KILLS:
                    paused[event.data["target"]] = False
        return [name for name, stands_still in paused.items() if stands_still]

    def nodes_away(self, at: int) -> list[str]:
        """Nodes that at event `at` are stopped or killed and not back, or stand still."""
        away: dict[str, bool] = {}
        for event in self.events:
            if event.n > at:
                break
            if event.kind == "node-ready":
                away[event.node] = False
            elif event.kind in ("fault-effective", "fault-healed") and event.data["fault"] in TAKES_AWAY:
                away[event.data["target"]] = event.kind == "fault-effective"
        return [name for name, is_away in away.items() if is_away and name in self.scenario.cluster.nodes]

    def brokers_disturbed(self, at: int) -> bool:
        """Whether a broker was killed, stopped, restarted or stood still by event `at`."""
        brokers = {*self.scenario.cluster.brokers, *self.scenario.cluster.slave_nodes}
        return any(event.data["target"] in brokers for event in self.of_kind("fault-effective", until=at))

    def network_faults(self, at: int) -> list[str]:
        """The faults of the network that are in effect at event `at`, each with its target."""
        active: dict[str, bool] = {}
        for event in self.events:
            if event.n <= at and event.kind in ("fault-effective", "fault-healed") and "sides" in event.data:
                fault = f"{event.data['fault']} of {event.data['target']}"
                active[fault] = event.kind == "fault-effective"
        return [fault for fault, is_active in active.items() if is_active]

    def killed(self, consumers: Iterable[str], at: int) -> list[str]:
        """Those of these consumers that were killed by event `at`."""
        targets = {
            event.data["target"]
            for event in self.of_kind("fault-effective", until=at)
            if event.data["fault"] in KILLS
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
            concerned = event.node in members or event.data.get("group") in groups
            if event.kind in ("fault-effective", "fault-healed"):
                targets = {event.data["target"], *event.data.get("sides", ())}
                concerned = bool(targets & (members | set(self.scenario.cluster.nodes)))
            if concerned and event.kind in kinds:
                found = event
        return found
