"""A scenario: the data of a YAML file, parsed and frozen.

`harness.scenario` makes one from a file and has checked it then; the JSON Schema for editors comes from here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from pydantic import PrivateAttr

from rocketchaos.assertions import Check
from rocketchaos.assertions.event_view import END
from rocketchaos.harness.core.model import SECTIONS, OutcomeKind
from rocketchaos.harness.language.cluster_needs import USUAL
from rocketchaos.harness.language.cluster_needs import ClusterNeeds as ClusterNeeds
from rocketchaos.harness.language.consumer_spec import Consumer as Consumer
from rocketchaos.harness.language.expectation import expected_in, label_of
from rocketchaos.harness.language.producer_spec import Producer
from rocketchaos.harness.language.repetition import Repeats
from rocketchaos.harness.language.topic import DEAD_LETTERS, RETRY, Group
from rocketchaos.harness.language.topic import Topic as Topic
from rocketchaos.harness.language.words import of_a_variable
from rocketchaos.harness.rocketmq.client_kinds import ClientChoice, client_choice
from rocketchaos.harness.scenario.declared import Declared
from rocketchaos.harness.scenario.version_needs import lacks_on
from rocketchaos.harness.steps.base import Step, every_step, with_rounds
from rocketchaos.harness.steps.observe import Observe
from rocketchaos.harness.steps.topic_config import TopicConfig

LONGEST_SHARED = 100
"""Longer names of topics and groups stay as written: RocketMQ's limit for a topic, `%RETRY%g` too, is 127."""


class Scenario(Declared):
    """The clients to start, the steps, and the checks."""

    _lines: Mapping[tuple[str | int, ...], int] = PrivateAttr(default_factory=dict)
    _source: str = PrivateAttr(default="")
    _file: str = PrivateAttr(default="")
    _own_label: str = PrivateAttr(default="")

    @property
    def story(self) -> str:
        """Its subject, in lines: its description, and for a symptom the report, the reason and the way out."""
        text = [line for line in self.description.splitlines() if line.strip()]
        if self.symptom is not None:
            text += [*self.symptom.lines, f"Issues: {', '.join(self.issue)}"]
        return "\n".join(text)

    @property
    def source(self) -> str:
        """The text of the file, as it was read."""
        return self._source

    @property
    def file(self) -> str:
        """The file's name, as the user gave it."""
        return self._file

    def line_of(self, *path: str | int) -> int | None:
        """The line of a place in the file: `line_of("steps", 0)`."""
        return self._lines.get(path)

    def with_source(self, source: str, file: str, lines: Mapping[tuple[str | int, ...], int]) -> Scenario:
        """The same scenario with its origin."""
        known = self.model_copy()
        known._source, known._file, known._lines = source, file, dict(lines)
        return known

    def of_every_version(self) -> Scenario:
        """The same scenario and text, without its limits of versions."""
        line = self.line_of("rocketmq")
        if not self.rocketmq or line is None:
            return self
        lines = self._source.splitlines(keepends=True)
        lines[line - 1] = f"# {lines[line - 1]}"
        freed = self.model_copy(update={"rocketmq": ""})
        freed._source = "".join(lines)
        return freed

    def with_client(self, choice: ClientChoice) -> Scenario:
        """The same scenario with this client for every consumer that names none. `why_not_on` says whether that is
        possible.
        """
        chosen = {
            name: consumer.model_copy(update={"client": str(choice)}) if consumer.client is None else consumer
            for name, consumer in self.consumers.items()
        }
        given = self.model_copy(update={"consumers": chosen})
        given._own_label = self.own_client_label
        return given

    @property
    def repetition(self) -> Repeats:
        """The number of runs for a verdict."""
        if self.repeats is not None:
            return self.repeats
        return Repeats() if self.tendency else Repeats(at_least=1, at_most=1)

    @property
    def names_its_clients(self) -> bool:
        """Whether every consumer names its client. Then a matrix can't choose one."""
        return all(consumer.client is not None for consumer in self.consumers.values())

    @property
    def choices(self) -> tuple[ClientChoice, ...]:
        """All its clients: the producers', and the consumers'."""
        producers = (producer.choice for producer in self.senders.values())
        return *producers, *(consumer.choice for consumer in self.consumers.values())

    @property
    def declared(self) -> dict[str, Producer | Consumer]:
        """All its clients as they are declared, the producers first."""
        return {**self.senders, **self.consumers}

    def clients(self, rocketmq: str) -> dict[str, tuple[str, str]]:
        """Kind and version of every consumer's client, with servers of this version of RocketMQ."""
        choices = {name: consumer.choice for name, consumer in self.consumers.items()}
        return {name: (choice.kind.name, choice.version_on(rocketmq)) for name, choice in choices.items()}

    @property
    def leaders(self) -> dict[str, str]:
        """The clients that live in one process with others of theirs, each with the first of those."""
        first: dict[str, str] = {}
        for name, client in self.declared.items():
            first[name] = name if client.beside is None else first[client.beside]
        living = Counter(first.values())
        return {name: leader for name, leader in first.items() if living[leader] > 1}

    @property
    def client_label(self) -> str:
        """The kinds of its consumers' clients: `java`, `java+python`."""
        kinds = [consumer.choice.kind.name for consumer in self.consumers.values()]
        return label_of("+".join(kinds or [self.producer.choice.kind.name]))

    @property
    def own_client_label(self) -> str:
        """The same, without the clients of a matrix."""
        return self._own_label or self.client_label

    def expected_in(self, client: str | None, rocketmq: str | None) -> OutcomeKind | None:
        """The outcome that is expected with these clients on this version, see `harness.language.expectation`."""
        return expected_in(self.expected, self.own_client_label, client, rocketmq)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of its consumers, in order of appearance, then those without any."""
        groups = [consumer.group for consumer in self.consumers.values()]
        return tuple(dict.fromkeys((*groups, *self.bare_groups)))

    def members(self, group: str) -> tuple[str, ...]:
        """The consumers of a group, in order of appearance."""
        return tuple(name for name, consumer in self.consumers.items() if consumer.group == group)

    def named(self, target: str) -> tuple[str, ...]:
        """The consumers that a target may mean: a consumer, a group, or a variable."""
        if of_a_variable(target):
            return tuple(self.consumers)
        return (target,) if target in self.consumers else self.members(target)

    def topics_of(self, group: str) -> frozenset[str]:
        """The topics that its members subscribe to at their start."""
        return frozenset(topic for name in self.members(group) for topic in self.consumers[name].subscribe)

    def brokers_of(self, topic: str) -> tuple[str, ...]:
        """The brokers that have a topic."""
        return self.topic(topic).on or self.cluster.brokers

    def known_to(self, client: str) -> frozenset[str]:
        """The brokers that the name servers of a consumer, or of a producer, know."""
        return frozenset().union(*self.routes_of(client))

    def routes_of(self, client: str) -> tuple[frozenset[str], ...]:
        """The brokers that each of its name servers knows, equal sets once: a client asks one name server."""
        spec = self.declared[client]
        asked = spec.name_servers or self.cluster.name_server_nodes
        return tuple(dict.fromkeys(self.cluster.known_to(name) for name in asked))

    def counted_by(self, consumer: str, online: Iterable[str]) -> list[str]:
        """The online members of its group that it shares queues with: those that some broker of its knows too."""
        own = self.known_to(consumer)
        return [name for name in online if own & self.known_to(name)]

    def topic(self, topic: str) -> Topic:
        """A topic as it is declared: its own, or a group's, `%RETRY%g`, `%DLQ%g`."""
        for prefix in (RETRY, DEAD_LETTERS):
            if topic.startswith(prefix):
                group = self.bare_groups.get(topic.removeprefix(prefix), Group())
                return Topic(queues=1, settings=dict(group.topics).get(prefix, {}))
        return self.topics[topic]

    def topic_in_time(self, topic: str) -> tuple[Topic, ...]:
        """A topic as it is declared, and as each `topic-config` step leaves it, in the order of the file."""
        found = [self.topic(topic)]
        for step in every_step(self.steps):
            if isinstance(step, TopicConfig) and step.target == topic:
                found.append(found[-1].changed(step.settings))
        return tuple(found)

    def queue_count(self, topic: str) -> int:
        """How many queues of a topic consumers pull from, on all brokers together."""
        return self.topic(topic).read_queues * len(self.brokers_of(topic))

    def most_sent(self, topic: str | None = None, tag: str | None = None) -> int:
        """The most messages that its `send` steps send, of a topic and a tag, or of all. A variable tag may be
        any: then all count.
        """
        return sum(
            number
            for (to, own), number in self.sent_by_tag().items()
            if topic in (None, to) and _may_be(own, tag)
        )

    def steps_send(self, topic: str | None = None, tag: str | None = None) -> str:
        """`the steps send 8`; where they send none, that what a program of the user's sends doesn't count."""
        number = self.most_sent(topic, tag)
        unseen = (
            " (messages of your own program don't count: `sees: {topic: …}` and `check-command` see them)"
        )
        return f"the steps send {number}{unseen if self.has_programs and not number else ''}"

    def sent_by_tag(self) -> Counter[tuple[str, str | None]]:
        """The same by topic and by tag as it is written."""
        return self._sent_by(self.steps)

    def sent_between(self, after: str | None, until: str) -> Counter[tuple[str, str | None]] | None:
        """The same of the steps between two observations; None if a step inside another one makes one of them."""
        places = {step.name: place for place, step in enumerate(self.steps) if isinstance(step, Observe)}
        if not {after, until} <= {None, END, *places}:
            return None
        begin = 0 if after is None else places.get(after, len(self.steps))
        return self._sent_by(self.steps[begin : places.get(until, len(self.steps))])

    def _sent_by(self, steps: Iterable[Step]) -> Counter[tuple[str, str | None]]:
        found: Counter[tuple[str, str | None]] = Counter()
        for step, rounds in with_rounds(steps):
            for topic, tag, number in step.sends(self):
                found[topic, tag] += number * rounds
        return found

    @property
    def sends_unseen(self) -> bool:
        """Whether another step than `send`, or a program of the user's, may put messages into topics."""
        return self.has_programs or any(step.sends_unseen for step in every_step(self.steps))

    def times_bound(self, variable: str) -> int:
        """How often its steps bind a variable, `$holder`."""
        return sum(rounds for step, rounds in with_rounds(self.steps) if variable[1:] in step.binds())

    @property
    def cluster_needs(self) -> ClusterNeeds:
        """Its needs of a cluster: those that it states, a proxy if a client speaks to one, a trace topic, and
        long polling."""
        needs, consumers = self.cluster, self.consumers.values()
        if any(client.needs_proxy for client in self.declared.values()):
            needs = needs.with_a_proxy(for_remoting=self.through_proxy)
        if any(consumer.traits.seen_by == "trace" for consumer in consumers):
            needs = needs.with_a_trace_topic()
        if any(consumer.traits.needs_long_polling for consumer in consumers):
            needs = needs.with_long_polling()
        return needs.with_tls() if self._wants_tls else needs

    @property
    def _wants_tls(self) -> bool:
        """Whether a client speaks TLS: by a setting, or as a program's gRPC client does by default."""
        return any(client.settings.get("useTLS") is True for client in self.declared.values()) or any(
            consumer.app is not None and consumer.app.needs_proxy for consumer in self.consumers.values()
        )

    @property
    def grpc_choice(self) -> ClientChoice | None:
        """A client that speaks gRPC as the scenario's own do: the first of them, or `grpc` where only programs do.
        None: no client speaks gRPC."""
        for choice in self.choices:
            if choice.kind.needs_proxy:
                return choice
        programs = (consumer.app for consumer in self.consumers.values() if consumer.app is not None)
        return client_choice("grpc") if any(app.needs_proxy for app in programs) else None

    @property
    def through_proxy(self) -> bool:
        """Whether a remoting client goes through the proxy."""
        return any(client.through == "proxy" for client in self.declared.values())

    @property
    def required_capabilities(self) -> frozenset[str]:
        """The abilities that its cluster needs: names of `harness.cluster.base.CAPABILITIES`."""
        required = {name for step in every_step(self.steps) for name in step.capabilities(self)}
        if self.cluster.shape != USUAL.shape:
            required.add("configure")
        if self.cluster.dashboard is not None:
            required.add("dashboard")
        if self.cluster.proxy == "local":
            required.add("proxy: local")
        if self.workers == "containers" or any(map(self.is_image, self.consumers)):
            required.add("container workers")
        if self.cluster.advertise == "hostname":
            required.add("hostnames")
        if self.cluster.flow_control:
            required.add("flow control")
        if self.cluster.accounts:
            required.add("access control")
        if self.cluster.name_servers > 1:
            required.add("several name servers")
        if self.cluster.controller:
            required.add("controller")
        return frozenset(required)

    @property
    def further_releases(self) -> tuple[str, ...]:
        """The releases, or builds by name, that its servers need in addition to the run's own, each once."""
        return tuple(dict.fromkeys(name for step in every_step(self.steps) for name in step.releases()))

    @property
    def has_programs(self) -> bool:
        """Whether a consumer is a program of the user's."""
        return any(consumer.app is not None for consumer in self.consumers.values())

    @property
    def names_as_written(self) -> bool:
        """Whether brokers have the names as they are written: `names` demands it, a program has them in it, or
        what a run adds might make one too long.
        """
        if self.names is not None:
            return self.names == "as-written"
        senders = (producer.group or "" for producer in self.senders.values())
        too_long = any(len(name) > LONGEST_SHARED for name in (*self.topics, *self.groups, *senders))
        # Accounts say the names that brokers have.
        return self.has_programs or bool(self.cluster.accounts) or too_long

    def is_image(self, name: str) -> bool:
        """Whether this consumer is one of the user's containers."""
        consumer = self.consumers.get(name)
        return consumer is not None and consumer.app is not None and consumer.app.image is not None

    def in_container(self, client: str) -> bool:
        """Whether this consumer or producer lives in a container of its own."""
        return self.workers == "containers" or self.is_image(client)

    @property
    def needs_own_cluster(self) -> bool:
        """Whether it can't share a cluster with others: it declares that, a step does something to a node,
        or names of topics and groups are as they stand."""
        return (
            self.cluster.own
            or self.names_as_written
            or any(True for step in every_step(self.steps) for _ in step.capabilities(self))
        )

    def why_not_on(self, version: str) -> str | None:
        """Why it doesn't apply to this version of RocketMQ, with its name; None if it does."""
        lacks = self.lacks_on(version)
        return None if lacks is None else f"{self.name} {lacks}"

    def lacks_on(self, version: str) -> str | None:
        """The reason without the name of the scenario: several scenarios may share it."""
        return lacks_on(self, version)

    def checks(self) -> tuple[tuple[str, int, Check], ...]:
        """All checks, as (section, index in it, check)."""
        return tuple(
            (section, index, check)
            for section in SECTIONS
            for index, check in enumerate(getattr(self, section))
        )


def _may_be(own: str | None, wanted: str | None) -> bool:
    """Whether a message's tag may be the one that is wanted; None: any is. A variable's may be any."""
    return wanted in (None, own) or any(tag is not None and of_a_variable(tag) for tag in (own, wanted))
