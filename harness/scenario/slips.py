"""Values that look like typing mistakes, though RocketMQ accepts them, or refuses them itself: a warning, not a
mistake."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.core.nearest import clipped, listed, nearest
from rocketchaos.harness.language.behaviour import ALL
from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.language.fault_effects import ENDS
from rocketchaos.harness.language.topic import attributes_of, is_system_topic
from rocketchaos.harness.language.words import LEGAL_GROUP, expression_doubt
from rocketchaos.harness.rocketmq.broker_settings import is_of_5, setting_doubt
from rocketchaos.harness.rocketmq.client_kinds import USUAL_CLIENT
from rocketchaos.harness.rocketmq.name_server_settings import name_server_doubt
from rocketchaos.harness.rocketmq.properties import TOPIC_ATTRIBUTES, Value
from rocketchaos.harness.rocketmq.version_range import contains
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.word_entries import flat, understood
from rocketchaos.harness.scenario.yaml_places import Document, Path
from rocketchaos.harness.steps.base import every_step

if TYPE_CHECKING:
    from rocketchaos.harness.steps.broker_config import BrokerConfig
    from rocketchaos.harness.steps.topic_config import TopicConfig


def slips(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """The values of a valid scenario that are probably slips."""
    yield from _one_id_twice(document, scenario)
    yield from _replaced_instances(document, scenario)
    yield from _expressions(document, scenario)
    yield from _illegal_groups(document, scenario)
    yield from _unseen_programs(document, scenario)
    yield from _not_said_to_fail(document, scenario)
    yield from _broker_settings(document, scenario)
    yield from _name_server_settings(document, scenario)
    yield from _attributes(document, scenario)
    yield from _keys_of_no_message(document, scenario)
    yield from _topics_of_rocketmq(document, scenario)


def _topics_of_rocketmq(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Topics that are called as RocketMQ's own, and are others, because the run adds to their names."""
    for name in scenario.topics:
        if is_system_topic(name) and not scenario.names_as_written:
            doubt = (
                f"the run adds to this name, so it is not RocketMQ's own {name}: write `names: as-written`"
            )
            yield document.report(("topics", name), doubt, key=True)


def _keys_of_no_message(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Messages on which a listener blocks, or which it fails, and that are never sent."""
    if scenario.sends_unseen:
        return
    for name, consumer in scenario.consumers.items():
        for field in ("block", "commit", "only"):
            for index, key in enumerate(getattr(consumer.behaviour, field) or ()):
                topic, _, number = key.rpartition("-")
                sent = scenario.most_sent(topic)
                if key == ALL or (number.isdecimal() and 1 <= int(number) <= sent):
                    continue
                few = (
                    f"the steps send {sent} to {topic}"
                    if topic in scenario.topics
                    else "no topic is called so"
                )
                path = document.in_file(("consumers", name, "behaviour", field, index))
                yield document.report(path, f"no message has the key `{clipped(key)}`: {few}")


def _attributes(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Attributes of topics that no broker takes. A build of one's own may know more."""
    given: list[tuple[Path, Mapping[str, Value]]] = [
        (("topics", name, "settings"), topic.settings) for name, topic in scenario.topics.items()
    ]
    for placed in flat(understood(document, "steps")[0]):
        if placed.word.word == "topic-config":
            given.append(((*placed.path, "set"), cast("TopicConfig", placed.word).settings))
    for path, settings in given:
        for attribute in attributes_of(settings):
            if attribute not in TOPIC_ATTRIBUTES:
                near = nearest(attribute, TOPIC_ATTRIBUTES)
                meant = f"; did you mean `{near}`?" if near else f": they have {listed(TOPIC_ATTRIBUTES)}"
                doubt = f"topics of 5.0.0 to 5.5.0 have no attribute `{clipped(attribute)}`{meant}"
                yield document.report((*path, attribute), doubt, key=True)


def _name_server_settings(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Lines of namesrv.conf that have no effect, for which a run ends with an error."""
    for name, value in scenario.cluster.namesrv.items():
        doubt = name_server_doubt(name, value, controller=scenario.cluster.controller)
        if doubt is not None:
            yield document.report(("cluster", "namesrv", name), doubt, key=True)


def _broker_settings(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Lines of broker.conf that have no effect, for which a run ends with an error.

    A build of one's own may know more settings.
    """
    cluster = scenario.cluster
    given: list[tuple[Path, dict[str, str | int | bool]]] = [(("cluster", "broker"), cluster.broker)]
    given += [(("cluster", "one_broker", name), lines) for name, lines in cluster.one_broker.items()]
    for placed in flat(understood(document, "steps")[0]):
        if placed.word.word == "broker-config":  # a scenario without it doesn't load its class
            given.append(((*placed.path, "set"), cast("BrokerConfig", placed.word).settings))
    also_on_4_9 = contains(scenario.rocketmq, "4.9.4")
    for path, lines in given:
        for name, value in lines.items():
            doubt = setting_doubt(name, value)
            if doubt is None and also_on_4_9 and is_of_5(name):
                doubt = (
                    f"brokers of 4.9.x have no setting `{clipped(name)}`, so a run on them ends with an error: "
                    "`rocketmq: '>=5.0'` says that the scenario runs on newer ones alone"
                )
            if doubt is not None:
                yield document.report((*path, name), doubt, key=True)


def _not_said_to_fail(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """A symptom that no version is expected to show, that does not name what was tried."""
    symptom = scenario.symptom
    if (
        symptom is not None
        and symptom.not_reproduced is None
        and scenario.expected_kinds == {OutcomeKind.NOT_REPRODUCED}
    ):
        doubt = "no version is expected to show it: write in `symptom: {not_reproduced: …}` what was tried"
        yield document.report(("expected",), doubt)


def _unseen_programs(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Programs of which nothing shows what they handle."""
    for name, consumer in scenario.consumers.items():
        if consumer.app is not None and consumer.traits.seen_by == "offsets":
            doubt = (
                "nothing shows which messages it handles, so their fate is undetermined: say with `sees` which of "
                r"its lines tell it, `{log: 'handled (?P<key>\S+)'}`, into which topic it writes it, "
                "`{topic: handled}`, where it lists it, `{http: http://$host:8080/handled}`, or that its client "
                "traces it, `{trace: true}`. A Java program needs none of them as `jar: FILE` or as `main: CLASS` "
                "with its `classpath`"
            )
            yield document.report(("consumers", name, "app"), doubt)


def _illegal_groups(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Groups whose names RocketMQ refuses (`Validators.checkGroup`)."""
    groups = {("consumers", name, "group"): consumer.group for name, consumer in scenario.consumers.items()}
    for name, producer in scenario.senders.items():
        place = ("producers", name) if name in scenario.producers else ("producer",)
        groups |= {} if producer.group is None else {(*place, "group"): producer.group}
    for path, group in groups.items():
        if not LEGAL_GROUP.fullmatch(group):
            message = f"RocketMQ refuses the group `{clipped(group)}`: letters, digits, `_-%|`, at most 255"
            yield document.report(path, message)


def _expressions(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Tag expressions that RocketMQ reads differently from how they look."""
    for name, consumer in scenario.consumers.items():
        for topic, expression in consumer.subscribe.items():
            doubt = expression_doubt(expression) if isinstance(expression, str) else None
            if doubt is not None:
                yield document.report(("consumers", name, "subscribe", topic), doubt)


def _one_id_twice(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Members that run at the same time with one client id: each gets the queues of the first one."""
    running: set[str] = set()
    for step in every_step(scenario.steps):
        for name in step.acts_on():
            consumer = scenario.consumers.get(name)
            if step.word in ENDS:
                running.discard(name)
            if consumer is None or step.word not in ("start", "restart") or name in running:
                continue
            running.add(name)
            own = _place_of(scenario, name)
            other = next(
                (item for item in sorted(running - {name}) if _place_of(scenario, item) == own), None
            )
            if own is not None and other is not None:
                message = (
                    f"{other} and {name} are members of {consumer.group} with one client id, `{own[1]}`: "
                    "both get the same queues, and other queues have no owner"
                )
                path = ("consumers", name, *(("client_id",) if consumer.client_id else ()))
                yield document.report(path, message)


def _place_of(scenario: Scenario, name: str) -> tuple[str, str] | None:
    """Its group, and its client id there. None: its id is unique anyway, or it shares a process, where RocketMQ
    refuses a second member of a group under one id.
    """
    consumer = scenario.consumers[name]
    if not consumer.choice.kind.takes_ids or consumer.instance is not None or name in scenario.leaders:
        return None
    if _instance_is_replaced(consumer):
        return None
    return consumer.group, consumer.client_id or name


def _replaced_instances(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """Client ids that no broker will see, because the client puts its process in place of their end."""
    for name, consumer in scenario.consumers.items():
        if _instance_is_replaced(consumer):
            message = (
                f"brokers will see another client id than `{consumer.client_id}`: RocketMQ's client puts a "
                "clustering consumer's pid in place of `DEFAULT`, from 4.9.0 on with nanoTime "
                "(`4711#39198852723217`); for one id in two processes write that end, `@1`"
            )
            yield document.report(("consumers", name, "client_id"), message)


def _instance_is_replaced(consumer: Consumer) -> bool:
    """Whether its client changes the end of its id (`ClientConfig.changeInstanceNameToPID`)."""
    ends_so = consumer.client_id is not None and consumer.client_id.endswith("@DEFAULT")
    return ends_so and consumer.model == "clustering" and consumer.choice.kind.name == USUAL_CLIENT
