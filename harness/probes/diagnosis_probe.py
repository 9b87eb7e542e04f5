"""Runs `rocketchaos diagnose` on a group. It takes seconds, so only a `diagnose` check asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.assertions.diagnose import Diagnose
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.events.observed import DiagnosisObserved

if TYPE_CHECKING:
    from rocketchaos.harness.diagnose.diagnosis import Report
    from rocketchaos.harness.probes.context import ProbeContext


def read_diagnosis(context: ProbeContext, name: str, moment: str) -> None:
    """Diagnose each group of which a `diagnose` check wants it at this observation, and write down what is found.

    Args:
        context: of the run.
        name: the observation's, as checks say it.
        moment: the same with its iteration.
    """
    groups = {
        check.group
        for _, _, check in context.scenario.checks()
        if isinstance(check, Diagnose) and check.at == name
    }
    if not groups:
        return
    import asyncio  # most runs need none of it

    for group in sorted(groups):
        began_ns = context.now_ns()
        try:
            report = asyncio.run(_diagnosed(context, group))
        except EnvironmentNotReady as failure:
            context.observations.note_failure("diagnosis", str(failure), group=group)
            continue
        data = {
            "group": group,
            "findings": [
                {
                    "code": item.check.code,
                    "level": str(item.level),
                    "topic": context.names.scenario(item.topic),
                    "sentence": item.sentence,
                }
                for item in report.findings
            ],
            "undetermined": sorted({item.check.code for item in report.undetermined}),
            "looks": len(report.looks),
            "seconds": round(report.seconds, 1),
        }
        context.observations.write(f"diagnosis {group}", DiagnosisObserved.kind, data, moment, began_ns)


async def _diagnosed(context: ProbeContext, group: str) -> Report:
    from rocketchaos.harness.diagnose.collect import Scope
    from rocketchaos.harness.diagnose.diagnosis import Diagnosis
    from rocketchaos.harness.diagnose.gate import Gate

    async with Gate(recorded=False) as gate:
        scope = Scope((context.servers.cluster.nameserver,), (context.names.real(group),))
        report = await Diagnosis(gate, scope).run()
    if report.unreached:
        raise EnvironmentNotReady(report.unreached)
    return report
