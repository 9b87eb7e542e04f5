"""A scenario while it is drawn: the running members, their tags, and the steps so far."""

import random
from dataclasses import dataclass, field
from typing import Any

from rocketchaos.harness.language.fault_registry import PROCESS_FAULTS
from rocketchaos.harness.language.producer_spec import PRODUCER
from rocketchaos.harness.language.tags import tags_of
from rocketchaos.harness.nightly.dimensions import TAGS
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS, USUAL_CLIENT, Api
from rocketchaos.harness.rocketmq.kinds.app import APP

Step = dict[str, Any]
"""One step as in a file: its word and its fields."""

OWNERSHIP_WITHIN = "90s"
SEALED_WITHIN = "180s"
"""Generous: an orderly member's queues stay locked for 60 s after its death."""
NOBODYS_TAG = "tagX"
SQL_VALUES = ("1", "2")
SQL_PROPERTY = "a"
HASH_KEYS = ("customer-1", "customer-2", "customer-3")
CHECKED_SOON = {"transactionCheckInterval": 1000, "transactionTimeOut": 1000}
"""Brokers ask about a transaction that stays unknown after a second; their own are 6 s and 30 or 60 s."""
_WAYS: dict[str, dict[str, Any]] = {
    "one-way": {"oneway": True},
    "batch": {"batch": 2},
    "delayed": {"delay_level": 1},
    "transaction": {"transaction": {"state": "commit"}},
    "checked": {"transaction": {"state": "unknown", "checked": "commit"}},
}
"""By the words of the dimension `sending`; `usual` says nothing."""


@dataclass(slots=True)
class Member:
    """A consumer: its entry in the file, and its state after the steps so far."""

    name: str
    group: str
    fields: dict[str, Any]
    late: bool = False
    state: str = "new"
    wants: dict[str, Any] = field(default_factory=dict)
    """Its present subscriptions, by topic."""

    @property
    def running(self) -> bool:
        return self.state == "running"

    @property
    def has_process(self) -> bool:
        """Whether faults can act on its process: no other consumer shares it."""
        return "client_id" not in self.fields or "beside" not in self.fields

    @property
    def can_resubscribe(self) -> bool:
        """Whether its client changes its subscriptions while it runs."""
        return self.traits.resubscribes

    @property
    def traits(self) -> Api:
        """How its client consumes."""
        client = APP.name if "app" in self.fields else self.fields.get("client", USUAL_CLIENT)
        return CLIENT_KINDS[client].apis[self.fields.get("api", "push")]

    def started(self) -> None:
        """It runs, as it was declared."""
        self.state, self.wants = "running", dict(self.fields["subscribe"])


@dataclass(slots=True)
class Draft:
    """The scenario so far, as operations and triggers ask it, and their random generator."""

    rng: random.Random
    profile: Profile
    topics: dict[str, int]
    """Queues on each broker, by topic."""
    brokers: tuple[str, ...]
    members: list[Member]
    own_cluster: bool = False
    """A step acts on a node: no other run shares the cluster."""
    producers: tuple[str, ...] = ()
    """Further producers."""
    in_containers: bool = False
    """Its clients live in containers, which faults of the network can reach."""
    sendings_may_fail: bool = False
    """A step acts on a broker or a producer."""
    sql: bool = False
    checked: bool = False
    """A transaction stays unknown, until a broker asks."""
    unseen: bool = False
    """A message reaches its queue without an answer that names it."""
    grown: dict[str, int] = field(default_factory=dict)
    """Queues on each broker of topics that a step has enlarged."""
    moments: int = 0
    story: list[str] = field(default_factory=list)
    """The operations, in a few words each, for the title."""

    def word(self, dimension: str) -> str:
        """One word along a dimension."""
        return self.profile.draw(self.rng, dimension)

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(member.group for member in self.members))

    def of(self, group: str) -> list[Member]:
        """A group's members that get started."""
        return [member for member in self.members if member.group == group]

    def running(self, group: str) -> list[Member]:
        """A group's members that run."""
        return [member for member in self.of(group) if member.running]

    def shared_by_others(self, member: Member) -> bool:
        """Whether another consumer lives in its process by name."""
        return any(item.fields.get("beside") == member.name for item in self.members)

    def killable(self, group: str) -> list[Member]:
        """Members in a process that faults can act on."""
        return [item for item in self.running(group) if item.has_process and not self.shared_by_others(item)]

    def wait(self, least_ms: int, most_ms: int, because: str) -> list[Step]:
        """Let some time pass, in tenths of a second; 0 adds no step."""
        duration_ms = self.rng.randrange(least_ms, most_ms + 1, 100)
        return [{"wait": {"duration": duration_text(duration_ms), "because": because}}] if duration_ms else []

    # Sending -------------------------------------------------------------------------------------------

    def tags_for(self, topic: str) -> list[str]:
        """The tags that some member wants, and sometimes one that none wants."""
        wanted = {
            tag
            for member in self.members
            for expression in [member.fields["subscribe"].get(topic)]
            if isinstance(expression, str)
            for tag in tags_of(expression)
        }
        if self.rng.random() < 0.1:
            return [*sorted(wanted), NOBODYS_TAG]
        return sorted(wanted) or [self.rng.choice(TAGS)]

    def common_tags(self, group: str, topic: str) -> list[str]:
        """The tags that each running member of the group takes: no filter drops them."""
        wants = [member.wants.get(topic) for member in self.running(group)]
        if not wants or not all(isinstance(want, str) for want in wants):
            return []
        sets = [tags_of(str(want)) for want in wants]
        own = sorted({tag for tags in sets for tag in tags} - set(TAGS))
        return [tag for tag in (*TAGS, *own) if all(not tags or tag in tags for tags in sets)]

    def common_topics(self, group: str) -> list[str]:
        """The topics of which each running member takes some tag."""
        return [topic for topic in self.topics if self.common_tags(group, topic)]

    def sendings(self) -> list[Step]:
        """A send to each topic, as fast as possible."""
        return [self._sending(topic) for topic in self.topics]

    def _sending(self, topic: str) -> Step:
        per_queue = int(self.word("messages"))
        count = per_queue * self._queues(topic)
        way = self.word("sending")
        how = _WAYS.get(way, {})
        if way == "batch":
            count += count % 2
        self.unseen |= bool(how)
        self.checked |= way == "checked"
        chooses = not how or way in ("one-way", "delayed")
        hashed = self.word("queue") == "by hash" and not how
        chosen = per_queue if chooses and not hashed else None
        step = self._send(topic, self._tagged(self.tags_for(topic)), count, chosen)
        step["send"] |= {"hash_key": list(HASH_KEYS)} if hashed else how
        return step

    def flow(self, topic: str, tags: list[str] | None = None) -> Step:
        """A send that takes some seconds."""
        count, every_ms = self.rng.choice((20, 40, 60)), self.rng.choice((25, 50, 100))
        tagged = self._tagged(self.tags_for(topic) if tags is None else tags)
        return self._send(topic, tagged, count, None, every_ms)

    def _send(
        self,
        topic: str,
        tagged: dict[str, Any],
        count: int,
        per_queue: int | None,
        every_ms: int | None = None,
    ) -> Step:
        said: dict[str, Any] = {"topic": topic, **tagged, "count": count}
        if per_queue is not None:
            said["per_queue"] = per_queue
        if every_ms is not None:
            said["every"] = duration_text(every_ms)
        if self.profile.service is not None and self.profile.service.body is not None:
            said["body"] = self.profile.service.body
        if self.sql:
            said["properties"] = {SQL_PROPERTY: self.rng.choice(SQL_VALUES)}
        if self.producers:
            producer = self.rng.choice((PRODUCER, *self.producers))
            said |= {} if producer == PRODUCER else {"producer": producer}
        if self.sendings_may_fail:
            said["may_fail"] = True
        return {"send": said}

    def _tagged(self, tags: list[str]) -> dict[str, Any]:
        if len(tags) > 1 and self.word("tags") == "in turn":
            return {"tags": list(tags)}
        return {"tag": self.rng.choice(tags)}

    def _queues(self, topic: str) -> int:
        return self.grown.get(topic, self.topics[topic]) * len(self.brokers)

    # Settling ------------------------------------------------------------------------------------------

    def settle(self) -> list[Step]:
        """All members own their queues, and the stored subscriptions mostly stay."""
        steps: list[Step] = []
        subscriptions = self.word("settled") == "yes"
        for group in self.groups:
            running = self.running(group)
            if not running:
                continue
            steps.append({"settle": {"ownership": group, "within": OWNERSHIP_WITHIN}})
            # Where members differ in their topics, each heartbeat removes the others': that never settles.
            if subscriptions and len({frozenset(item.wants) for item in running}) == 1:
                steps += [
                    {"settle": {"subscription": group, "topic": topic, "within": OWNERSHIP_WITHIN}}
                    for topic in running[0].wants
                ]
        return steps

    def seal(self) -> list[Step]:
        """Wait until the fate of every message is certain for every group with members.

        An observation finds messages that were sent without an answer: then it waits for their fate as well.
        """
        sealed = self._sealed()
        if not self.unseen or not sealed:
            return sealed
        arriving = {
            "wait": {"duration": "4s", "because": "a message may be late by its delay, or its transaction"}
        }
        return [arriving, *self.observe(), *sealed, *self.observe(), *sealed]

    def _sealed(self) -> list[Step]:
        return [
            {"settle": {"sealed": group, "within": SEALED_WITHIN}}
            for group in self.groups
            if self.running(group)
        ]

    def observe(self) -> list[Step]:
        """Observe everything, under a name."""
        self.moments += 1
        return [{"observe": f"moment-{self.moments}"}]

    # Coming and going ----------------------------------------------------------------------------------

    def start(self, members: list[Member]) -> list[Step]:
        """Start them."""
        for member in members:
            member.started()
        return [{"start": _names(members)}] if members else []

    def gone(self, word: str, members: list[Member]) -> list[Step]:
        """They leave by this step."""
        for member in members:
            member.state = PROCESS_FAULTS[word].after
        return [{word: _names(members)}]

    def comes_back(self, members: list[Member]) -> list[Step]:
        """They start again after a while, if chance decides so, or no other member is left."""
        lonely = any(not self.running(member.group) for member in members)
        if not lonely and self.word("comes back") == "no":
            return []
        wait = self.wait(0, 3000, "how long they are away")
        return [*wait, *self.start(members)]


def duration_text(duration_ms: int) -> str:
    """A duration as one writes it."""
    return f"{duration_ms // 1000}s" if duration_ms % 1000 == 0 else f"{duration_ms}ms"


def _names(members: list[Member]) -> str | list[str]:
    names = [member.name for member in members]
    return names[0] if len(names) == 1 else names
