"""A message that the group's offset has not passed: does anybody consume its queue? Pure."""

from rocketchaos.assertions.case import Case
from rocketchaos.assertions.view import owned_queues
from rocketchaos.harness.core.events.observed import OffsetsObserved
from rocketchaos.harness.core.model import Event, MessageClass, MessageFate
from rocketchaos.harness.language.tags import pulled_matches

_REFUSED = (
    "; but at times the broker holds no subscription of the group for the topic, as a heartbeat of a member that "
    "doesn't subscribe to it removes it, and refuses the owner's pulls then (code 24)"
)


def fate_of_waiting(case: Case) -> MessageFate:
    """In flight, stranded, or not to be known."""
    online = case.view.online(case.at, case.group)
    ownership = case.view.ownership(case.group, case.at)
    if not online:
        return case.made(MessageClass.IN_FLIGHT, "no member of the group is online; it waits", [])
    broadcasting = [name for name in online if case.spec(name).model == "broadcasting"]
    if broadcasting:
        return case.undetermined(
            f"no listener got it, and whether the offsets passed it isn't observed: {', '.join(broadcasting)} "
            "consumes by broadcasting, and keeps its offsets itself",
            [],
        )
    receiving = [
        name
        for name in online
        if case.traits(name).queues == "shared"
        and case.message.topic in case.view.own_subscriptions.at(name, case.at)
    ]
    if receiving:
        return case.made(
            MessageClass.IN_FLIGHT,
            f"it waits ahead of the group's offset for {' or '.join(receiving)}, served from every queue",
            [],
            stored=case.last_stored(),
        )
    owning = [name for name in online if case.traits(name).queues == "owned"]
    if not owning:
        return case.made(
            MessageClass.STRANDED,
            f"no online member receives from its topic: {', '.join(online)} subscribes to others",
            [],
            stored=case.last_stored(),
        )
    missing = [name for name in owning if name not in ownership]
    owners = [
        name
        for name, event in ownership.items()
        if name in owning and case.message.queue in owned_queues(event, case.message.topic)
    ]
    if owners:
        refused = case.refused_observations()
        return case.made(
            MessageClass.IN_FLIGHT,
            f"it waits ahead of the group's offset for {', '.join(owners)}, which owns the queue"
            + _passed_over(case, owners)
            + (_REFUSED if refused else ""),
            [*(ownership[name] for name in owners), *refused],
            owner=", ".join(owners),
            stored=case.last_stored(),
        )
    if missing:
        why = f"the queues of {', '.join(missing)} were not observed"
        return case.undetermined(
            f"it waits ahead of the group's offset, and {case.view.why_not_owned(tuple(missing), why)}",
            list(ownership.values()),
        )
    return _stranded(case, online, list(ownership.values()))


def _passed_over(case: Case, owners: list[str]) -> str:
    """The hint for owners that commit what they got, and nothing beyond it: lite pull, and Go until 2.1.0.

    DefaultLitePullConsumerImpl.pollResult: the pull offset moves on with NO_MATCHED_MSG, the consume offset
    with `poll` alone (4.9.4, 5.5.0).
    """
    own = [
        name
        for name in owners
        if not case.traits(name).commits_skipped
        and (expression := case.view.own_subscriptions.at(name, case.at).get(case.message.topic)) is not None
        and pulled_matches(expression, case.message.tag) is False
    ]
    if not own:
        return ""
    return (
        f"; the own expression of {', '.join(own)} doesn't match it, but the offset of such a client passes "
        "that only with the next message that it gets"
    )


def _stranded(case: Case, online: list[str], proof: list[Event]) -> MessageFate:
    on_paper = ", ".join(_owners_on_paper(case, online)) or None
    whose = (
        f": on paper it belongs to {on_paper}, which doesn't consume it"
        if on_paper
        else ", and on paper it belongs to nobody"
    )
    return case.made(
        MessageClass.STRANDED,
        f"no member consumes its queue{whose}",
        proof,
        owner=on_paper,
        stored=case.last_stored(),
    )


def _owners_on_paper(case: Case, online: list[str]) -> list[str]:
    """The members to whom their own strategies give the queue, whether they subscribe to the topic or not."""
    ids = {name: case.view.client_id(name) for name in online}
    broker, _, queue_id = case.message.queue.rpartition(":")
    queues = {
        (queue.broker, queue.queue_id)
        for event in case.view.of_kind(OffsetsObserved, until=case.at)
        if event.body.topic == case.message.topic
        for queue in event.body.queues
    }
    pulled = case.view.pulled_queues(case.message.topic, case.at, sorted(queues))
    real = case.view.real_topic(case.message.topic)
    scenario = case.view.scenario
    found = []
    for name, client_id in ids.items():
        known = [queue for queue in pulled if queue[0] in scenario.known_to(name)]
        counted = [ids[other] for other in scenario.counted_by(name, online)]
        everybody = [*counted, *case.view.hand_made_ids(case.group, case.at)]
        if case.traits(name).queues == "owned" and (broker, int(queue_id)) in case.spec(name).share(
            known, everybody, client_id, real
        ):
            found.append(name)
    return found
