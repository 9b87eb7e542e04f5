"""Measurements of a run that may explain its outcome: `ConditionFact`.

=====================  =========================================================================================
`start_gap_ms`         between the first two members of a group that started; of several groups the shortest
`fault_offset_ms`      from the last start of a consumer before the first fault to that fault
`fault_since_send_ms`  from the first sending to the first fault; none if that fault came before
`load_start`           average of the run queue when it began, and `host_load` when its record was written
`busy_share`           of all cores, while it ran
`beside`               other runs at the same time
`waited_s`             until it was let in
`provision_s` ...      seconds of its phases: `steps_s`, `observe_s`, `tear_down_s`
`start_attempts`       of the cluster
`shared_cluster`       1: with other runs
`free_memory_mib`      of the machine
`processors`           of the machine
=====================  =========================================================================================

A value that the folder lacks is no fact.
"""

from collections import defaultdict
from collections.abc import Iterator

from rocketchaos.harness.core.events.clients import ConsumerStarted
from rocketchaos.harness.core.events.servers import FaultInjected
from rocketchaos.harness.facts.documents import Cluster, Host, Load, Loads, Parallel, RunDocument
from rocketchaos.harness.facts.kinds import ConditionFact
from rocketchaos.harness.facts.story import Story


def condition_facts(record: RunDocument, story: Story) -> Iterator[ConditionFact]:
    """All of a run."""
    for name, value in {**_recorded(record), **dict(_timed(story))}.items():
        if value is not None:
            yield ConditionFact(name=name, value=float(value))


def _recorded(record: RunDocument) -> dict[str, float | None]:
    load, parallel = record.load or Loads(), record.parallel or Parallel()
    cluster, host = record.cluster or Cluster(), record.host or Host()
    phases = {f"{name.replace(' ', '_')}_s": value for name, value in (record.phases or {}).items()}
    # Of a name that both have, what was measured counts.
    return {
        **phases,
        "load_start": (load.start or Load()).average_1min,
        "busy_share": load.busy_share,
        "beside": parallel.beside,
        "waited_s": parallel.waited_s,
        "start_attempts": cluster.start_attempts,
        "shared_cluster": cluster.shared,
        "host_load": host.load[0] if host.load else None,
        "free_memory_mib": host.free_memory_mib,
        "processors": host.processors,
    }


def _timed(story: Story) -> Iterator[tuple[str, float]]:
    first: dict[str, dict[str, float]] = defaultdict(dict)
    for entry in story.entries:
        if isinstance(entry.body, ConsumerStarted):
            own = first[entry.body.group]
            own[entry.node] = min(entry.at_ms, own.get(entry.node, entry.at_ms))
    gaps = [times[1] - times[0] for times in map(sorted, map(dict.values, first.values())) if len(times) > 1]
    if gaps:
        yield "start_gap_ms", min(gaps)
    faults = [entry.at_ms for entry in story.entries if isinstance(entry.body, FaultInjected)]
    if not faults:
        return
    fault_ms = min(faults)
    starts = [entry.at_ms for entry in story.entries if isinstance(entry.body, ConsumerStarted)]
    before = [at_ms for at_ms in starts if at_ms <= fault_ms]
    if before:
        yield "fault_offset_ms", fault_ms - max(before)
    if story.first_sent_ms is not None and story.first_sent_ms <= fault_ms:
        yield "fault_since_send_ms", fault_ms - story.first_sent_ms
