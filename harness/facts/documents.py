"""The documents of a run folder, as far as facts are made from them; a value that the folder lacks is None."""

from collections.abc import Mapping

import msgspec

from rocketchaos.harness.facts.kinds import Int32


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """A mapping in a document."""


class Load(_Part, frozen=True):
    """How busy the machine was at a moment."""

    average_1min: float | None = None


class Loads(_Part, frozen=True):
    """How busy the machine was."""

    start: Load | None = None
    end: Load | None = None
    busy_share: float | None = None


class Parallel(_Part, frozen=True):
    """What else ran."""

    beside: Int32 | None = None
    waited_s: float | None = None


class Cluster(_Part, frozen=True):
    """On what it ran."""

    kind: str | None = None
    shared: bool | None = None
    start_attempts: Int32 | None = None


class Versions(_Part, frozen=True):
    """Of what it ran with."""

    rocketchaos: str | None = None
    java: Int32 | None = None


class Host(_Part, frozen=True):
    """The machine."""

    name: str | None = None
    system: str | None = None
    processors: Int32 | None = None
    memory_mib: int | None = None
    free_memory_mib: int | None = None
    load: tuple[float | None, ...] | None = None


class NightlyFinding(_Part, frozen=True):
    """What a night found in a run."""

    code: str
    words: str


class Nightly(_Part, frozen=True):
    """A night's description of a run that it drew."""

    findings: tuple[NightlyFinding, ...] = ()


class RunDocument(_Part, frozen=True):
    """`run.json`."""

    schema_version: int
    run: str
    scenario: str
    title: str | None = None
    owner: str | None = None
    seed: int | None = None
    timing: str | None = None
    timers_ms: Mapping[str, int | None] | None = None
    rocketmq: str | None = None
    client: str | None = None
    client_version: str | None = None
    clients: Mapping[str, str | None] | None = None
    workers: str | None = None
    cluster: Cluster | None = None
    ended: str | None = None
    seconds: float | None = None
    load: Loads | None = None
    parallel: Parallel | None = None
    phases: Mapping[str, float | None] | None = None
    versions: Versions | None = None
    host: Host | None = None
    nightly: Nightly | None = None


class OutcomeDocument(_Part, frozen=True):
    """`outcome.json`."""

    schema_version: int
    outcome: str
    expected: str | None = None
    as_expected: bool | None = None
    reason: str | None = None
    trouble: str | None = None


class CheckPart(_Part, frozen=True):
    """A check in `checks.json`."""

    section: str | None = None
    id: str | None = None
    name: str | None = None
    holds: str | None = None
    expected: str | None = None
    observed: str | None = None
    events: tuple[Int32, ...] | None = None
    claim: str | None = None
    line: Int32 | None = None


class ChecksDocument(_Part, frozen=True):
    """`checks.json`."""

    schema_version: int
    checks: tuple[CheckPart, ...]


class Documents(msgspec.Struct, frozen=True):
    """All three, each read."""

    run: RunDocument
    outcome: OutcomeDocument
    checks: ChecksDocument

    @property
    def as_it_should_be(self) -> bool:
        """Whether the run is as expected, or only measured, and no error ended it."""
        return self.outcome.as_expected is not False and self.outcome.outcome != "error"
