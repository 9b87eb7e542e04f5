"""What was run, where, and how it ended: `RunFact`."""

from datetime import UTC, datetime

from rocketchaos.harness.facts.documents import (
    Cluster,
    Documents,
    Host,
    Load,
    Loads,
    Parallel,
    RunDocument,
    Versions,
)
from rocketchaos.harness.facts.kinds import RunFact
from rocketchaos.harness.facts.story import Story

NOBODY = "none"
"""The clients of a run without any, as of one that pulls by hand."""
UNKNOWN = "unknown"
"""What the folder doesn't tell, as the kind of a cluster that never started."""


def run_fact(documents: Documents, story: Story, message_count: int) -> RunFact:
    """That of a run with this many messages."""
    record, said = documents.run, documents.outcome
    cluster, host, load = record.cluster or Cluster(), record.host or Host(), record.load or Loads()
    versions = record.versions or Versions()
    least, greatest = story.apart_ms or (0.0, 0.0)
    return RunFact(
        run=record.run,
        scenario=record.scenario,
        client=client_label(record),
        rocketmq=record.rocketmq or UNKNOWN,
        cluster=cluster.kind or UNKNOWN,
        timing=record.timing or UNKNOWN,
        title=record.title,
        scenario_owner=record.owner,
        seed=record.seed,
        client_version=record.client_version,
        workers=record.workers,
        harness_version=versions.rocketchaos,
        java_version=versions.java,
        host=host.system if host.name is None else host.name,
        processors=host.processors,
        memory_mib=host.memory_mib,
        timers_ms=record.timers_ms,
        started_wall_ms=story.first_wall_ms,
        ended_wall_ms=_ended_wall_ms(record, story),
        seconds=round(story.last_ms / 1000, 3) if record.seconds is None else record.seconds,
        clock_jump_ms=int(greatest - least),
        outcome=said.outcome,
        expected=said.expected,
        as_expected=said.as_expected,
        reason=said.reason,
        trouble=said.trouble,
        load_start=(load.start or Load()).average_1min,
        load_end=(load.end or Load()).average_1min,
        busy_share=load.busy_share,
        beside=(record.parallel or Parallel()).beside,
        event_count=story.event_count,
        message_count=message_count,
    )


def client_label(record: RunDocument) -> str:
    """The clients of a run, with their versions where those aren't the brokers': `java+python 2.0.0`.

    Older folders tell kinds and versions, and not which version is whose: they are put together where there are as
    many of both.
    """
    if record.clients:
        each = sorted({item for item in record.clients.values() if item is not None})
        return "+".join(_named(record, *item.partition("@")[::2]) for item in each)
    if not record.client:
        return UNKNOWN if record.client is None else NOBODY
    if record.client_version is None:
        return record.client
    kinds, versions = record.client.split("+"), record.client_version.split("+")
    if len(versions) not in (1, len(kinds)):
        return f"{record.client} {record.client_version}"
    versions = versions * len(kinds) if len(versions) == 1 else versions
    return "+".join(_named(record, kind, version) for kind, version in zip(kinds, versions, strict=True))


def _named(record: RunDocument, kind: str, version: str) -> str:
    return kind if version in ("", record.rocketmq) else f"{kind} {version}"


def _ended_wall_ms(record: RunDocument, story: Story) -> int:
    try:
        ended = datetime.fromisoformat(record.ended or "")
    except ValueError:
        return story.first_wall_ms + int(story.last_ms)
    moment = ended if ended.tzinfo else ended.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
