"""The state of a folder when its facts were made: it says whether the folder is fit for facts."""

from dataclasses import dataclass, field

from rocketchaos.harness.core.model import SCHEMA_VERSION, OutcomeKind, Trouble

LAST_WALL_MS = 253_402_300_799_000
"""The last Unix time that a calendar of four digits has."""


@dataclass(slots=True)
class SeenDocument:
    """What is seen of `run.json`, `outcome.json` or `checks.json`."""

    read: bool = False
    """It could be read, if only as text."""
    broken: bool = True
    """It is no JSON, or lacks what it must have."""
    schema_version: int | None = None


@dataclass(slots=True)
class Seen:
    """What is seen of a folder."""

    run: SeenDocument = field(default_factory=SeenDocument)
    outcome: SeenDocument = field(default_factory=SeenDocument)
    checks: SeenDocument = field(default_factory=SeenDocument)
    ended: bool = False
    """`run.json` tells when it ended."""
    outcome_kind: str | None = None
    trouble: str | None = None
    last_event_of_checks: int | None = None
    event_count: int = 0
    broken_events: int = 0
    first_broken_event: int | None = None
    """The line of the file, from 1."""
    events_of_other_schema: int = 0
    events_of_another_run: int = 0
    in_order: bool = True
    """Events have the numbers 1, 2, 3, …, as far as they can be read."""
    ends: int = 0
    """Events that end a run."""
    first_wall_ms: int | None = None
    message_count: int = 0
    missing_messages: int = 0
    """Lines that should be there, as a group has one for each message that was sent to a topic of its members."""
    surplus_messages: int = 0
    """Lines that should not be there."""
    other_keys: int = 0
    """Groups and topics with as many messages as were sent, but others."""
    broken_messages: int = 0
    first_broken_message: int | None = None
    """The line of the file, from 1."""
    messages_of_other_schema: int = 0
    last_event_of_messages: int | None = None
    strange_groups: tuple[str, ...] = ()
    """Of messages, which the history doesn't know."""

    @property
    def fit(self) -> bool:
        """Whether facts can be made of the folder: it is whole, and nothing in it contradicts anything else."""
        documents = (self.run, self.outcome, self.checks)
        # Where the oracle could not read the history, it has written none (`assertions.judge`).
        unjudged = self.message_count == 0 and self.trouble == Trouble.HARNESS
        cited = max(self.last_event_of_messages or 0, self.last_event_of_checks or 0)
        return (
            all(item.read and not item.broken and item.schema_version == SCHEMA_VERSION for item in documents)
            and self.outcome_kind in list(OutcomeKind)
            and self.ends > 0
            and self.in_order
            and 0 <= (self.first_wall_ms or 0) <= LAST_WALL_MS
            and (unjudged or not self.missing_messages)
            and cited <= self.event_count
            and not (
                self.broken_events
                or self.events_of_other_schema
                or self.events_of_another_run
                or self.broken_messages
                or self.messages_of_other_schema
                or self.surplus_messages
                or self.other_keys
                or self.strange_groups
            )
        )
