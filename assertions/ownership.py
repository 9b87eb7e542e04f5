"""`ownership`: which member owns which queues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.view import RunView, owned_queues, queue_name
from rocketchaos.harness.core.events.observed import OffsetsObserved, OwnershipObserved
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.words import ConsumerRef, GroupName, OneOrList, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class Ownership(Check):
    """A member owns exactly these queues, or this many (`of`); or the group is allocated as its strategies say.

    Ownership is what each client itself reports (request code 307). For a group: every online member that
    subscribes to the topic owns exactly what its own strategy gives it among all online members, sorted by
    client id. With different strategies queues may have several owners, or none; the check holds then too.
    For members that share all queues (POP, gRPC), or whose client doesn't report its queues, the answer is
    unknown.
    """

    word = "ownership"
    example = "ownership: {of: a, topic: orders, queues: [0, 1]}"

    topic: TopicName = Field(description="the topic")
    of: ConsumerRef | None = Field(default=None, description="the member")
    queues: Annotated[tuple[int, ...], OneOrList()] | None = Field(
        default=None, description="with `of`: the ids of its queues, on every broker"
    )
    count: int | None = Field(default=None, ge=0, description="with `of`: how many queues it owns")
    group: GroupName | None = Field(
        default=None, description="the group whose queues must be allocated as its members' strategies say"
    )

    @model_validator(mode="after")
    def _one_question(self) -> Ownership:
        if (self.of is None) == (self.group is None):
            raise ValueError("give exactly one of `of` and `group`")
        if self.of is not None and (self.queues is None) == (self.count is None):
            raise ValueError("with `of`, give exactly one of `queues` and `count`")
        if self.group is not None and (self.queues is not None or self.count is not None):
            raise ValueError("`queues` and `count` go with `of`")
        return self

    def problems(self, scenario: Scenario) -> Iterator[str]:
        topics = scenario.topic_in_time(self.topic)
        number = max(topic.all_queues for topic in topics)
        beyond = [queue for queue in self.queues or () if not 0 <= queue < number]
        if beyond:
            yield f"{self.topic} has the queues 0 to {number - 1}: nobody owns queue {beyond[0]} of it"
        in_all = max(topic.read_queues for topic in topics) * len(scenario.brokers_of(self.topic))
        if self.count is not None and self.count > in_all:
            yield f"{self.topic} has {in_all} queues: nobody owns {self.count} of them"

    def title(self) -> str:
        return f"ownership of {self.topic} by {self.of or self.group}"

    def evaluate(self, view: RunView) -> Answer:
        return self._of_one(view) if self.of is not None else self._of_group(view, str(self.group))

    def _of_one(self, view: RunView) -> Answer:
        wanted = f"queues {list(self.queues)}" if self.queues is not None else f"{self.count} queues"
        expected = f"{self.of} owns {wanted} of {self.topic}"
        consumers = view.consumers(str(self.of))
        if consumers is None or len(consumers) != 1:
            return Answer(None, expected, f"{self.of} stands for no single consumer")
        events = view.observed(OwnershipObserved, self.at, consumer=consumers[0])
        if not events or view.traits(consumers[0]).queues == "shared":
            why = f"the queues of {consumers[0]} were not observed at `{self.at}`"
            return Answer(None, expected, view.why_not_owned(consumers, why))
        own = sorted(owned_queues(events[-1], self.topic))
        observed = f"{consumers[0]} owns {', '.join(own) or 'none'}"
        if self.count is not None:
            return Answer(len(own) == self.count, expected, observed, [events[-1].n])
        brokers = view.scenario.brokers_of(self.topic)
        exact = sorted(queue_name(broker, queue) for broker in brokers for queue in self.queues or ())
        return Answer(own == exact, expected, observed, [events[-1].n])

    def _of_group(self, view: RunView, group: str) -> Answer:
        expected = f"the queues of {self.topic} are divided over {group} by its members' strategies"
        offsets = view.observed(OffsetsObserved, self.at, group=group, topic=self.topic)
        events: dict[str, Event[OwnershipObserved]] = {
            event.body.consumer: event for event in view.observed(OwnershipObserved, self.at, group=group)
        }
        end = view.end_of(self.at) or 0
        online = view.online(end, group)
        missing = [name for name in online if name not in events or view.traits(name).queues == "shared"]
        if not offsets or not online or missing:
            why = f"not observed at `{self.at}`: {', '.join(missing) or 'any member'}"
            return Answer(None, expected, view.why_not_owned(tuple(missing), why))
        seen = [(queue.broker, queue.queue_id) for queue in offsets[-1].body.queues]
        queues = view.pulled_queues(self.topic, end, seen)
        if not any(self.topic in view.own_subscriptions.at(name, events[name].n) for name in online):
            return Answer(None, expected, "no online member subscribes to it")
        holds, texts = True, []
        for name in online:
            if self.topic not in view.own_subscriptions.at(name, events[name].n):
                texts.append(f"{name} doesn't subscribe to it")
                continue
            client_id = events[name].body.client_id
            counted = view.scenario.counted_by(name, online)
            ids = [*(events[other].body.client_id for other in counted), *view.hand_made_ids(group, end)]
            consumer, real = view.scenario.consumers[name], view.real_topic(self.topic)
            shares = [
                consumer.share([queue for queue in queues if queue[0] in known], ids, client_id, real)
                for known in view.scenario.routes_of(name)
            ]
            own = owned_queues(events[name], self.topic)
            # Which of its name servers a client asks is its own choice.
            holds &= any(sorted(own) == sorted(queue_name(*queue) for queue in share) for share in shares)
            texts.append(f"{name} owns {', '.join(sorted(own)) or 'none'}")
        return Answer(holds, expected, "; ".join(texts), [event.n for event in events.values()])
