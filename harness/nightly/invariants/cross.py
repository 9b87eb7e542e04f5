"""`cross-delivery`: a listener got a message to which its consumer never subscribed."""

from collections.abc import Iterator

from rocketchaos.assertions.view import Delivery
from rocketchaos.harness.core.events.clients import ConsumerStarting
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.language.tags import client_matches
from rocketchaos.harness.nightly.invariants.base import Breach, Judged, some


class CrossDelivery:
    """A group that agrees has none: each member wants every message that another may get."""

    kind = "cross-delivery"
    meaning = "a listener got a message of a topic or tag to which its consumer has never subscribed"
    judges_unsettled = False

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        found: dict[tuple[str, str, str], list[Delivery]] = {}
        tags = {message.key: message.tag for message in judged.view.sent}
        for delivery in judged.view.deliveries(judged.end):
            if delivery.key not in tags:
                continue  # it was not acknowledged
            way = "retry" if delivery.reconsume_times else "queue"
            what = _strange(judged, delivery, tags[delivery.key])
            if what is not None:
                group = judged.view.scenario.consumers[delivery.consumer].group
                found.setdefault((group, way, what), []).append(delivery)
        for (group, way, what), strays in found.items():
            first = strays[0]
            text = "through the retry topic" if way == "retry" else "straight from its queue"
            tag = tags[first.key]
            said = {"to": first.consumer, "topic": first.topic} | ({"tag": tag} if tag else {})
            yield Breach(
                group=group,
                code=f"cross-delivery-{way}-{what}",
                sentence=f"{first.consumer} of {group} got {first.key} (tag {tag}) {text}, though it has never "
                f"subscribed to that {what}; {counted(len(strays), 'such delivery', 'such deliveries')}",
                events=some(
                    [
                        event.n
                        for event in judged.view.of_kind(ConsumerStarting)
                        if event.node == first.consumer
                    ][:1]
                    + [stray.event.n for stray in strays]
                ),
                anomaly=({"delivered": {**said, "at_least": 1}},),
                healthy=({"delivered": {**said, "count": 0}},),
            )


def _strange(judged: Judged, delivery: Delivery, tag: str | None) -> str | None:
    """The part of the message, topic or tag, to which its consumer never subscribed, from its first start to the
    delivery."""
    own = [
        item
        for item in judged.view.own_subscriptions.between(
            delivery.consumer, delivery.topic, 0, delivery.event.n
        )
        if item is not None
    ]
    if not own:
        return "topic"
    return None if any(client_matches(item, tag) for item in own) else "tag"
