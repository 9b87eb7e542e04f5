"""Which jobs can't run because their RocketMQ, or a client's, isn't available. Pure; `releases` asks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import ExitCode, RocketchaosError, UsageProblem
from rocketchaos.harness.jars.artifacts import ARTIFACTS
from rocketchaos.harness.jars.releases import Need
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.plan.matrix import LeftOut
from rocketchaos.harness.workers.worker_kinds import KINDS


def needs_of(job: Job, kind: ClusterKind) -> tuple[Need, ...]:
    """The releases of RocketMQ that a job needs: for its servers, also after an upgrade, for clients of other
    versions, and for a proxy."""
    found = [Need(job.rocketmq), *(Need(version, ("server",)) for version in job.scenario.further_releases)]
    for choice in job.scenario.choices:
        role, version = KINDS[choice.kind.worker].classpath_role, choice.version_on(job.rocketmq)
        if role is not None and (version != job.rocketmq or role not in ARTIFACTS):
            found.append(Need(version, (role,)))
    if job.scenario.cluster_needs.proxy is not None and kind is ClusterKind.EMBEDDED:
        found.append(_with_a_proxy(job.rocketmq))
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Unobtainable:
    """A job that can't run because a release isn't available."""

    left_out: LeftOut
    error: RocketchaosError
    """The message if nothing else is left."""


def why_unobtainable(
    job: Job, kind: ClusterKind, absent: Mapping[Need, RocketchaosError]
) -> Unobtainable | None:
    """Why a job can't run without these needs; None if it can."""
    need = next((need for need in needs_of(job, kind) if need in absent), None)
    if need is None:
        return None
    error = absent[need]
    reason = f"{error.message}. {error.hint}" if error.hint else error.message
    lacks, code = "", error.exit_code
    if need == _with_a_proxy(job.rocketmq) and isinstance(error, UsageProblem):
        # A version without a proxy is as those of 4.9.x: what needs one is impossible there, and a matrix may
        # well ask for that.
        lacks, code = f"needs a proxy: {error.message}", ExitCode.AS_EXPECTED
        reason = f"{job.scenario.name} {lacks}"
    return Unobtainable(LeftOut(job.scenario.name, job.clients, job.rocketmq, reason, code, lacks), error)


def obtainable(
    jobs: Sequence[Job], kind: ClusterKind, absent: Mapping[Need, RocketchaosError]
) -> tuple[list[Job], list[LeftOut]]:
    """The jobs that can run without these needs, and the others as left out, each once.

    Raises:
        UsageProblem: none can, because there are no such versions. EnvironmentNotReady: none can, because no
        version can be downloaded now.
    """
    found = [(job, why_unobtainable(job, kind, absent)) for job in jobs]
    without = [why for _, why in found if why is not None]
    if jobs and len(without) == len(jobs):
        raise _nothing_left([item.error for item in without])
    left_out = dict.fromkeys(item.left_out for item in without)
    return [job for job, why in found if why is None], list(left_out)


def _nothing_left(absent: Sequence[RocketchaosError]) -> RocketchaosError:
    """The error to raise: the most severe, with the texts of the others."""
    by_text = {str(error): error for error in absent}
    code = ExitCode.gravest([error.exit_code for error in absent])
    gravest = next(error for error in by_text.values() if error.exit_code is code)
    others = "\n".join(text for text, error in by_text.items() if error is not gravest)
    return type(gravest)(gravest.message, "\n".join(filter(None, (gravest.hint, others))))


def _with_a_proxy(version: str) -> Need:
    return Need(version, ("all-servers",))
