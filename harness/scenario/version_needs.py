"""What a scenario needs of a version of RocketMQ, and of the versions of its clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocketchaos.harness.language.client_words import why_no_property, why_not_reached
from rocketchaos.harness.language.producer_spec import PRODUCER as SENDER
from rocketchaos.harness.language.producer_spec import Producer
from rocketchaos.harness.language.topic import attributes_of
from rocketchaos.harness.rocketmq.access_key import MIGRATES, SIGNED
from rocketchaos.harness.rocketmq.properties import GROUP, PRODUCER
from rocketchaos.harness.rocketmq.version_range import contains, why_not_in
from rocketchaos.harness.rocketmq.versions import CONTROLLER_SINCE, PROXY_SINCE
from rocketchaos.harness.steps.base import every_step
from rocketchaos.harness.steps.recall import Recall
from rocketchaos.harness.steps.send import Send

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


def lacks_on(scenario: Scenario, version: str) -> str | None:
    """What this version lacks that the scenario needs, as the rest of a sentence about it; None: nothing."""
    clients = (reason for _, reason in _clients_it_lacks(scenario, version))
    return _why_none(scenario, version) or next(clients, None)


def place_of_lack(scenario: Scenario, version: str) -> tuple[str, ...]:
    """Where the file names the client that this version can't have; its name where something else lacks."""
    places = (place for place, _ in _clients_it_lacks(scenario, version))
    return ("name",) if _why_none(scenario, version) else next(places, ("name",))


def _why_none(scenario: Scenario, version: str) -> str | None:
    """What this version lacks, whatever the clients."""
    reason = why_not_in(scenario.rocketmq, version)
    if reason is None and scenario.cluster.proxy is not None and not contains(PROXY_SINCE, version):
        reason = f"needs a proxy, which RocketMQ {version} lacks: {PROXY_SINCE} has it"
    if reason is None and scenario.cluster.controller and not contains(CONTROLLER_SINCE, version):
        reason = f"needs a controller, which RocketMQ {version} lacks: {CONTROLLER_SINCE} has it"
    if reason is None and scenario.cluster.accounts and not contains(SIGNED, version):
        reason = f"has accounts, with which RocketMQ {version} can't be run here: {SIGNED} can"
    if (
        reason is None
        and scenario.cluster.accounts
        and scenario.cluster_needs.proxy
        and not contains(MIGRATES, version)
    ):
        reason = f"has accounts and a proxy, which only checks them with ACL 2: RocketMQ {MIGRATES} has it"
    if reason is None and scenario.cluster.proxy == "local" and scenario.through_proxy:
        reason = "goes `through: proxy`, which a proxy in mode LOCAL can't serve: write `proxy: cluster`"
    return reason or _why_no_setting(scenario, version) or _why_no_step(scenario, version)


def _why_no_setting(scenario: Scenario, version: str) -> str | None:
    for name, topic in scenario.topics.items():
        attributes = attributes_of(topic.settings)
        if attributes and not contains(PROXY_SINCE, version):
            text = f"`{next(iter(attributes))}`, which RocketMQ {version} lacks: {PROXY_SINCE} has it"
            return f"gives {name} {text}"
    for group in scenario.bare_groups.values():
        for name in group.settings:
            if name in GROUP and not contains(GROUP[name].since, version):
                return f"sets `{name}`, which RocketMQ {version} lacks: {GROUP[name].since} has it"
    return None


def _why_no_step(scenario: Scenario, version: str) -> str | None:
    for step in every_step(scenario.steps):
        if not contains(step.rocketmq, version):
            return f"needs `{step.word}`, which RocketMQ {version} doesn't support: {step.rocketmq} does"
    return None


def _clients_it_lacks(scenario: Scenario, version: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The clients that this version can't have: where the file names each, and why."""
    for name, consumer in scenario.consumers.items():
        reason = consumer.why_not_on(version)
        if reason is not None and consumer.choice.kind.users_program:
            yield ("consumers", name), f"can't run the program of {name}: {reason}"
        elif reason is not None:
            yield ("consumers", name), f"can't have {consumer.choice} for {name}: {reason}"
    for step in every_step(scenario.steps):
        for name, can_not in step.beyond(scenario):
            choice = scenario.consumers[name].choice
            yield ("consumers", name), f"can't have {choice} for {name}: {can_not}"
    for name, producer in scenario.senders.items():
        if (reason := _why_no_producer(scenario, name, producer, version)) is not None:
            who = "its producer" if name == SENDER else f"the producer {name}"
            place = (SENDER,) if name == SENDER else ("producers", name)
            yield place, f"can't have {producer.choice} for {who}: {reason}"


def _why_no_producer(scenario: Scenario, name: str, producer: Producer, version: str) -> str | None:
    kind, client = producer.choice.kind, producer.choice.version_on(version)
    reason = why_not_reached(producer.needs_proxy, version) or why_no_property(
        producer.settings, PRODUCER, client
    )
    sends = [step for step in every_step(scenario.steps) if isinstance(step, Send) and step.producer == name]
    ways = [way for step in sends for way in (*step.ways, *(["hash_key"] if step.hash_key else []))]
    if reason is None and (beyond := [way for way in ways if way not in kind.sends]):
        reason = f"its producer can't send with `{beyond[0]}`"
    if reason is None and kind.needs_proxy:
        plain = (step.topic for step in sends if step.hash_key and not scenario.topic(step.topic).fifo)
        if (topic := next(plain, None)) is not None:
            reason = f"its `hash_key` is a message group, and {topic} has no `message.type: FIFO`"
    if reason is None and "delay" in ways and not contains(PROXY_SINCE, client):
        reason = f"`delay` is of clients {PROXY_SINCE}, as `java@5.5.0`: `delay_level` is of all"
    recalls = any(isinstance(step, Recall) and step.producer == name for step in every_step(scenario.steps))
    if reason is None and recalls and not (kind.recalls and contains(kind.recalls, client)):
        reason = "`recall` is of Java's clients >=5.3.2, as `client: java@5.5.0`"
    if reason is None and not kind.chooses_queues:
        chosen = [step.word for step in sends if step.chooses_queues]
        reason = f"it can't choose a queue, as `{chosen[0]}` asks" if chosen else None
    return reason
