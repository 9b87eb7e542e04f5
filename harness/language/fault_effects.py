"""Which faults do the same to a process or a group, by what the registry says of each."""

from rocketchaos.harness.language.fault_kind import Process
from rocketchaos.harness.language.fault_registry import FAULT_KINDS, PROCESS_FAULTS


def of_process(*effects: Process) -> frozenset[str]:
    """The words of the faults that make this of a process."""
    return frozenset(kind.word for kind in FAULT_KINDS.values() if kind.process in effects)


ENDS = frozenset(kind.word for kind in PROCESS_FAULTS.values() if kind.after in ("stopped", "killed"))
"""Those after which the process is gone."""
KILLS = of_process(Process.KILLED)
OVER_AT_ONCE = frozenset(
    word for word, kind in FAULT_KINDS.items() if kind.process is Process.RUNS and not kind.undone_by
)
"""Those that are over once they have taken effect: a new process runs."""
STANDS_STILL = of_process(Process.STANDS)
TAKES_AWAY = of_process(Process.KILLED, Process.LEFT, Process.STANDS)
"""A node that suffers one of these is not there until it is healed, or ready again."""
TOLD_BY_CONSUMERS = frozenset(
    kind.word for kind in PROCESS_FAULTS.values() if kind.process is Process.LEFT and not kind.consumers_tell
)
"""Those whose effect on a member its own `consumer-stopped` has recorded before."""
_UNDO = [word for kind in FAULT_KINDS.values() for word in kind.undone_by]
ACTIVE_BEFORE_TOLD = tuple(
    dict.fromkeys(
        (
            *(kind.word for kind in FAULT_KINDS.values() if kind.active_before_announced),
            # Who starts tells of it first.
            *(word for word in _UNDO if word not in (*FAULT_KINDS, "start")),
        )
    )
)
"""The steps from whose beginning on a group may change, before the history tells that it has."""
