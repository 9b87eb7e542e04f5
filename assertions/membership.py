"""Whether a group's membership stayed the same: that proves a queue's owner if no subVersion does. Pure.

A member whose queues change raises its subVersion, if its client is one of those that do so
(`RebalancePushImpl.messageQueueChanged`; the C++ client's is empty): the same version at two looks then proves
the same queues all the time between. Of the others two looks alone prove nothing: it may have lost the queue, and
got it back.

But what a rebalance gives to a member follows from who is online, from the topic's queues and from its strategy.
While all that stays, every rebalance gives the same, the queue or not: so whether the member owns it can change
once at most, and a member that owned it at both ends owned it all the time. (A rebalance under way at the first
look may still go by those who were online before; it takes milliseconds.)

That the membership stayed is proven by looks at each broker, from before the first to after the passing, that all
show the same clients over the same connections, one that ended and came back having another port; and by nothing
having happened meanwhile to a member, a node or the network.
"""

from typing import Any

from rocketchaos.assertions.between import bracket, is_bracket
from rocketchaos.assertions.fault_view import FaultView
from rocketchaos.harness.core.events.observed import SubscriptionObserved
from rocketchaos.harness.core.model import Event


def membership_stayed(view: FaultView, group: str, first: int, passed: int, last: int) -> bool:
    """Whether the membership provably stayed from one look at a member's queues, `first`, to another, `last`.

    What matters lies between `first` and `passed`, which is before `last`; all three are numbers of events.
    """
    observations: dict[str, list[Event[SubscriptionObserved]]] = {}
    for event in view.of_kind(SubscriptionObserved):
        if event.body.group == group:
            observations.setdefault(event.body.broker, []).append(event)
    if not observations or not all(is_bracket(own, first, passed) for own in observations.values()):
        return False
    for own in observations.values():
        looks = [item for item in bracket(own, first, last) if not _began_after(view, item, last)]
        if len({_clients(observation) for observation in looks}) != 1:
            return False
    changed = view.last_disturbance([group], last)
    at_rest = not view.paused(first) and not view.nodes_away(first) and not view.network_faults(first)
    return at_rest and (changed is None or changed.n < first)


def _began_after(view: FaultView, look: Event[SubscriptionObserved], last: int) -> bool:
    """Whether a look's change came after event `last`: the look before it, without a change, did too."""
    before_ms = look.body.look_began_before_ms
    return look.n > last and before_ms is not None and view.ms_between(last, look.n) > before_ms


def _clients(observation: Event[SubscriptionObserved]) -> tuple[Any, ...]:
    """The members, with their connections if the history has them."""
    return observation.body.clients, observation.body.addresses or ()
