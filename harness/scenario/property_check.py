"""Checks settings by RocketMQ's own names: whether the names exist, and the types fit. Each mistake has its
place."""

from collections.abc import Iterator, Mapping

from rocketchaos.harness.core.nearest import clipped, listed, nearest
from rocketchaos.harness.rocketmq.properties import (
    CONSUMERS,
    GROUP,
    OF_THE_RUN,
    PRODUCER,
    SAID_BY,
    TOPIC,
    TOPIC_ATTRIBUTES,
    Properties,
    Value,
)
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.sentences import kind_of
from rocketchaos.harness.scenario.word_entries import flat, understood
from rocketchaos.harness.scenario.yaml_places import Document, Path

_STEPS = {"topic-config": (TOPIC, "TopicConfig"), "group-config": (GROUP, "SubscriptionGroupConfig")}
"""The steps that have settings, and the kind of target that has them."""


def check_properties(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """The mistakes in the settings of a scenario's consumers and its producers."""
    for name, consumer in scenario.consumers.items():
        known = CONSUMERS.get(consumer.api)
        if known is not None:
            path = ("consumers", name, "settings")
            yield from _wrong(document, path, consumer.settings, known, consumer.traits.implementation)
    for name, topic in scenario.topics.items():
        yield from _wrong(document, ("topics", name, "settings"), topic.settings, TOPIC, "TopicConfig")
    for name, group in scenario.bare_groups.items():
        of_group: Path = ("groups", name)
        yield from _wrong(document, (*of_group, "settings"), group.settings, GROUP, "SubscriptionGroupConfig")
        for key, own in (("retry_topic", group.retry_topic), ("dead_letter_topic", group.dead_letter_topic)):
            yield from _wrong(document, (*of_group, key), own, TOPIC, "TopicConfig")
    for placed in flat(understood(document, "steps")[0]):
        if placed.word.word in _STEPS:
            known, whose = _STEPS[placed.word.word]
            settings: Mapping[str, Value] = getattr(placed.word, "settings")  # noqa: B009
            yield from _wrong(document, (*placed.path, "set"), settings, known, whose)
    for name, producer in scenario.senders.items():
        place: Path = ("producers", name) if name in scenario.producers else ("producer",)
        yield from _wrong(document, (*place, "settings"), producer.settings, PRODUCER, "DefaultMQProducer")


def _wrong(
    document: Document, path: Path, given: Mapping[str, Value], known: Properties, whose: str
) -> Iterator[Diagnostic]:
    for name, value in given.items():
        place = (*path, name)
        if name in SAID_BY:
            yield document.report(place, f"a scenario says `{name}` by `{SAID_BY[name]}`", key=True)
        elif name in OF_THE_RUN:
            yield document.report(
                place, f"`{name}` is set by the harness itself, differently for each run", key=True
            )
        elif known is TOPIC and "." in name:
            if not isinstance(value, str):
                yield document.report(place, f"an attribute needs text, not {kind_of(document, place)}")
        elif name not in known:
            near = nearest(name, known)
            others = "" if near else f": it has {listed(sorted(known), most=100)}"
            if known is TOPIC and not near:
                others += f", and of 5.x the attributes {listed(TOPIC_ATTRIBUTES)}"
            message = f"{whose} has no property `{clipped(name)}`{others}"
            yield document.report(place, message, near, key=True)
        elif not known[name].takes(value):
            message = f"`{name}` needs {known[name].needs}, not {kind_of(document, place)}"
            yield document.report(place, message)
