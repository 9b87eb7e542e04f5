"""The values that everything else is made of: events, findings, messages, outcomes. Frozen, no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, Self, cast

from typing_extensions import TypeVar

from rocketchaos.harness.core.events import body_of
from rocketchaos.harness.core.events.base import Body

SCHEMA_VERSION = 1
"""Version of every JSON document in a run folder."""


class DescribedEnum(StrEnum):
    """Words that say what they mean."""

    meaning: str
    """One sentence."""

    def __new__(cls, word: str, meaning: str = "") -> Self:
        """A member, written as `WORD = "word", "what it means"`."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.meaning = meaning
        return member


class OutcomeKind(DescribedEnum):
    """How a run ended."""

    REPRODUCED = "reproduced", "Every check of `anomaly` holds."
    NOT_REPRODUCED = (
        "not-reproduced",
        "Every check of `healthy` holds: the anomaly's stated absence was observed.",
    )
    INCONCLUSIVE = (
        "inconclusive",
        "Neither was observed, a precondition did not hold, or a fault had no effect.",
    )
    ERROR = "error", "The environment or the harness failed. It is never evidence."


class Holds(DescribedEnum):
    """The answer of a check to its statement."""

    YES = "yes", "It was seen to be so."
    NO = "no", "It was seen to be otherwise."
    UNKNOWN = "unknown", "The history lacks the evidence, or the check itself failed. It never counts as yes."


class MessageClass(DescribedEnum):
    """What became of one message for one group."""

    DELIVERED = "delivered", "A listener of the group got it."
    FILTERED_BY_BROKER = (
        "filtered-by-broker",
        "The stored subscription doesn't match: the broker sent it to no member, and the group's offset "
        "passed it.",
    )
    FILTERED_BY_CLIENT = (
        "filtered-by-client",
        "The stored subscription matches, so the broker sent it to the queue's owner, whose own "
        "subscription doesn't match: the owner's client dropped it, and the group's offset passed it.",
    )
    STRANDED = (
        "stranded",
        "It waits in a queue that no member consumes: the allocated owner doesn't subscribe to the topic, or "
        "the queue has no owner, for example because members' strategies differ.",
    )
    IN_FLIGHT = (
        "in-flight",
        "It waits ahead of the group's offset in a queue with an owner, or for any member to come online.",
    )
    IN_RETRY = (
        "in-retry",
        "A listener got it and failed; it waits in the group's retry topic, with an orderly listener in its "
        "queue, or with POP and gRPC until its invisible time is over.",
    )
    DEAD_LETTER = (
        "dead-letter",
        "Its listener failed once more than max_reconsume_times, or with gRPC the group's retryMaxTimes; it stays "
        "in the dead-letter queue. Or the proxy gave it no attempt, because that is below 0.",
    )
    LOST = (
        "lost",
        "Both filters match, the group's offset passed it, and no listener got it: truly lost. Or its listener "
        "failed, and it never comes again: the broker keeps no retries for the group (retryQueueNums 0), or "
        "an orderly client of Go goes on behind it.",
    )
    UNDETERMINED = "undetermined", "The history doesn't say enough to choose; `reason` says what is missing."


B = TypeVar("B", bound=Body, default=Body, covariant=True)


@dataclass(frozen=True, slots=True)
class Event(Generic[B]):
    """One line of `events.jsonl`; `Event[Sent]` is one whose `body` is a `Sent`.

    `mono_ns` is CLOCK_MONOTONIC, comparable between all processes of one host; `wall_ms` is Unix time.
    `node` is who saw it: `harness`, a worker's or a server's name. `n` counts from 1 in the order of arrival.
    Topics, groups and consumers appear under the names that the scenario gives them.
    """

    n: int
    mono_ns: int
    wall_ms: int
    run: str
    node: str
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    """The JSON of the file, unchanged; read it by `body`."""
    _body: Body | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def body(self) -> B:
        """What it tells, by the catalogue of kinds (`harness.core.events`); read from `data` once.

        Raises:
            BrokenEvent: a field of its kind is missing, or of another type.
        """
        if self._body is None:
            object.__setattr__(self, "_body", body_of(self.kind, self.data))
        return cast(B, self._body)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. `events` are the numbers of the events that prove it."""

    section: str
    """One of `SECTIONS`."""
    name: str
    """The check's word and target, as a user would say it: `delivered to $holder`."""
    holds: Holds
    expected: str
    observed: str
    events: tuple[int, ...] = ()
    claim: str | None = None
    """The claim that it confirms where it holds, `B01`."""
    refutes: str | None = None
    """The claim whose contrary was seen where it holds."""
    line: int | None = None
    """Line of the check in the scenario file."""
    id: str = ""
    """What the check states, in the words of the language (`assertions.base.Check.identity`): the same one however
    its name is worded. Empty in documents from before checks had ids."""


@dataclass(frozen=True, slots=True)
class MessageFate:
    """What became of one message for one group, by the oracle, with the events that prove it."""

    group: str
    topic: str
    key: str
    """The harness's own name of the message, `<topic>-<number>`; it is also its RocketMQ key."""
    tag: str | None
    queue: str | None
    """`<broker>:<queue id>`."""
    offset: int | None
    owner: str | None
    """The member that owned the queue, or None."""
    subscription: str | None
    """The expression that the broker held for the group and topic."""
    message_class: MessageClass
    deliveries: tuple[str, ...]
    """The members whose listener got it, in order of time."""
    reason: str
    events: tuple[int, ...]
    delivery_ms: float | None = None
    """From its acknowledgement to the producer, or the group's first start if that is later, to the first
    delivery, in ms; None: there was none."""
    broker_track: str | None = None
    """TrackType by the broker's tools, as last seen; None: they weren't asked."""
    dashboard_track: str | None = None
    """TrackType by the dashboard, as last seen; None: it wasn't asked."""
    not_before_ns: int | None = None
    """Where only time is missing: the moment from which on the history can say more, as `Event.mono_ns`."""


class Trouble(StrEnum):
    """Why a run could not be completed."""

    PRECONDITION = "precondition"
    USAGE = "usage"
    """Only the brokers could tell that the scenario can't be meant for this version."""
    ENVIRONMENT = "environment"
    HARNESS = "harness"
    INTERRUPTED = "interrupted"


class Judgement(DescribedEnum):
    """The outcome is compared with what the scenario expects with this client on this version of RocketMQ."""

    AS_EXPECTED = "as expected", "The outcome is the expected one, and every check of `also` holds."
    NOT_AS_EXPECTED = (
        "NOT as expected",
        "The outcome is another one, or a check of `also` was not seen to hold.",
    )
    MEASURED = (
        "measured",
        "The scenario expects nothing with this client on this version: the outcome is a measurement.",
    )
    NOT_MEASURED = (
        "NOT measured",
        "The scenario expects nothing, and an error kept the run from showing anything.",
    )


SECTIONS = ("anomaly", "healthy", "also", "tendency")
"""The lists of checks that a scenario may have."""

TENDENCY = "tendency"
"""The list of those that are measured and never judged."""

SECTION_OF: Mapping[OutcomeKind, str] = {
    OutcomeKind.REPRODUCED: "anomaly",
    OutcomeKind.NOT_REPRODUCED: "healthy",
}
"""The section of the scenario all of whose checks hold where a run ends so."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict of one run."""

    kind: OutcomeKind
    expected: OutcomeKind | None
    """None: the scenario expects nothing with this client on this version, so that it was only measured."""
    as_expected: bool | None
    """The kind is the expected one, and everything in `also` holds; None if nothing is expected."""
    reason: str
    trouble: Trouble | None
    findings: tuple[Finding, ...]
    messages: tuple[MessageFate, ...]

    @property
    def measured(self) -> bool:
        """Whether nothing was expected, and the run has brought what there was to see: there is no judgement."""
        return self.expected is None and self.kind is not OutcomeKind.ERROR

    @property
    def judgement(self) -> Judgement:
        """The outcome, compared with the expected one."""
        if self.expected is None:
            return Judgement.MEASURED if self.measured else Judgement.NOT_MEASURED
        return Judgement.AS_EXPECTED if self.as_expected else Judgement.NOT_AS_EXPECTED

    @property
    def wrong(self) -> bool:
        """Whether it is not as it should be: an error is never."""
        return not self.as_expected and not self.measured
