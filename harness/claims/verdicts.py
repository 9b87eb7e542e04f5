"""From runs to a verdict for each claim and version. Pure: the same runs give the same verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from rocketchaos.harness.claims.evidence import CheckSeen, RunSeen
from rocketchaos.harness.core.intervals import wilson_interval
from rocketchaos.harness.core.model import SECTION_OF, TENDENCY, DescribedEnum, Holds


class VerdictKind(DescribedEnum):
    """What runs of a version say of a claim."""

    CONFIRMED = "confirmed", "Every check with this claim held, in every run that counts."
    REFUTED = "refuted", "The runs showed the contrary: a check that refutes the claim held."
    NOT_OBSERVED = (
        "not observed",
        "A check with this claim failed, but no check that refutes it held: the runs did not show the contrary.",
    )
    DISTRIBUTION = "distribution", "A race or a tendency: the share of the runs in which the claim held."
    CONTRADICTORY = (
        "contradictory",
        "The claim held in some runs of a scenario, and failed in other runs of it.",
    )
    UNMEASURED = "unmeasured", "No run has a result for it."
    NOT_APPLICABLE = (
        "not applicable",
        "The claim is about other versions, or cannot be observed from outside.",
    )


class Stance(Enum):
    """One run's verdict about a claim."""

    FOR = 1
    AGAINST = 2
    NOT_SEEN = 3
    """A check that carries it was seen not to hold; that its contrary is so, nothing has shown."""
    SILENT = 4


@dataclass(frozen=True, slots=True)
class Proof:
    """One check of one run that says something of a claim."""

    run: RunSeen
    check: CheckSeen


@dataclass(frozen=True, slots=True)
class Tendency:
    """How often one check of `tendency` held."""

    scenario: str
    id: str
    """Of the check, `CheckSeen.key`."""
    check: str
    """Its title."""
    held: int
    total: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of its share, after Wilson."""
        return wilson_interval(self.held, self.total)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the runs of one version say of one claim."""

    claim: str
    version: str
    kind: VerdictKind
    reason: str
    """In a sentence what made it so, or why there is none."""
    runs: tuple[str, ...] = ()
    """Those that say something."""
    proofs: tuple[Proof, ...] = ()
    """The checks on which it stands, those that speak against the claim first."""
    shares: tuple[Tendency, ...] = ()
    not_counted: tuple[tuple[str, str], ...] = ()
    """Runs that count nowhere, each with the reason."""


def verdicts(runs: Iterable[RunSeen]) -> dict[tuple[str, str], Verdict]:
    """The verdict of each claim and version of which there is a run, in order."""
    found: dict[tuple[str, str], list[RunSeen]] = {}
    for run in sorted(runs, key=lambda item: item.run):
        speaking = [check for check in run.checks if speaks(run, check)]
        for claim in dict.fromkeys(
            name for check in speaking for name in (check.claim, check.refutes) if name
        ):
            found.setdefault((claim, run.rocketmq), []).append(run)
    return {(claim, version): verdict(claim, version, own) for (claim, version), own in sorted(found.items())}


def verdict(claim: str, version: str, runs: Sequence[RunSeen]) -> Verdict:
    """The verdict of one claim, from the runs of one version that have a check of it."""
    not_counted = tuple((run.run, run.not_counted) for run in runs if run.not_counted)
    counted = [run for run in runs if not run.not_counted]
    by_scenario: dict[str, dict[Stance, list[RunSeen]]] = {}
    for run in counted:
        stances = by_scenario.setdefault(run.scenario, {})
        stances.setdefault(stance_of(run, claim), []).append(run)
    shares = tendencies(claim, counted)
    kind, reason = _kind(by_scenario, shares)
    proofs = sorted(
        (proof for run in counted for proof in _proofs(run, claim)),
        key=lambda item: not _speaks_against(item, claim),
    )
    speaking = {
        run.run
        for own in by_scenario.values()
        for which in own
        if which is not Stance.SILENT
        for run in own[which]
    }
    speaking |= {run.run for run in counted if any(_measures(check, claim) for check in run.checks)}
    if kind is VerdictKind.UNMEASURED:
        reason = _why_unmeasured(counted, not_counted)
    elif kind is VerdictKind.CONFIRMED and (unseen := _refuters_unseen(claim, runs)):
        kind = VerdictKind.UNMEASURED
        reason += f", but no run counts of {', '.join(unseen)}, which may show the contrary"
    return Verdict(claim, version, kind, reason, tuple(sorted(speaking)), tuple(proofs), shares, not_counted)


def stance_of(run: RunSeen, claim: str) -> Stance:
    """A run's verdict about a claim, by its checks that are judged.

    A claim is so in a run where all that carry it hold, and otherwise where one that refutes it holds. That one
    which carries it doesn't hold is neither, nor is it that something can't be said.
    """
    judged = [check for check in run.checks if check.section != TENDENCY and speaks(run, check)]
    if any(_is_contrary(check, claim) for check in judged):
        return Stance.AGAINST
    carried = [check.holds for check in judged if check.claim == claim]
    if Holds.NO in carried:
        return Stance.NOT_SEEN
    return Stance.FOR if carried and Holds.UNKNOWN not in carried else Stance.SILENT


def speaks(run: RunSeen, check: CheckSeen) -> bool:
    """Whether a check was meant to hold in this run, or to be measured.

    The checks of the outcome that neither is expected nor was seen needn't hold: a control has those of its
    anomaly. Where nothing is expected, both lists speak.
    """
    if run.expected is None or check.section not in SECTION_OF.values():
        return True
    return check.section in (SECTION_OF[run.expected], SECTION_OF.get(run.outcome))


def _is_contrary(check: CheckSeen, claim: str) -> bool:
    """Whether the contrary of the claim was observed by it."""
    return check.refutes == claim and check.holds is Holds.YES


def _speaks_against(proof: Proof, claim: str) -> bool:
    check = proof.check
    not_seen = check.claim == claim and check.holds is Holds.NO
    return check.section != TENDENCY and (not_seen or _is_contrary(check, claim))


def _measures(check: CheckSeen, claim: str) -> bool:
    return check.section == TENDENCY and check.claim == claim and check.holds is not Holds.UNKNOWN


def _proofs(run: RunSeen, claim: str) -> Iterable[Proof]:
    for check in run.checks:
        carries = check.claim == claim and check.holds is not Holds.UNKNOWN
        if speaks(run, check) and (carries or _is_contrary(check, claim)):
            yield Proof(run, check)


def tendencies(claim: str | None, runs: Iterable[RunSeen]) -> tuple[Tendency, ...]:
    """How often each check of `tendency` held that carries the claim, or, without one, any."""
    counts: dict[tuple[str, str], list[bool]] = {}
    titles: dict[tuple[str, str], str] = {}
    counted = list(runs)
    ids = _ids_by_title(counted)
    for run in counted:
        for check in run.checks:
            if check.claim is not None and claim in (None, check.claim) and _measures(check, check.claim):
                key = run.scenario, check.id or ids.get((run.scenario, check.name), check.name)
                counts.setdefault(key, []).append(check.holds is Holds.YES)
                titles[key] = check.name
    return tuple(
        Tendency(*key, titles[key], sum(held), len(held))
        for key, held in sorted(counts.items(), key=lambda item: (item[0][0], titles[item[0]], item[0][1]))
    )


def _ids_by_title(runs: Iterable[RunSeen]) -> dict[tuple[str, str], str]:
    """The id that runs with ids have for a scenario's tendency of this title, where it is the only one.

    So older evidence, without ids of checks, counts together with later runs of the same check.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        for check in run.checks:
            if check.id and check.section == TENDENCY:
                found.setdefault((run.scenario, check.name), set()).add(check.id)
    return {title: next(iter(ids)) for title, ids in found.items() if len(ids) == 1}


def _kind(
    by_scenario: Mapping[str, Mapping[Stance, Sequence[RunSeen]]], shares: Sequence[Tendency]
) -> tuple[VerdictKind, str]:
    for scenario, stances in by_scenario.items():
        item = stances.get(Stance.FOR, [])
        other = [*stances.get(Stance.AGAINST, []), *stances.get(Stance.NOT_SEEN, [])]
        if item and other:
            return VerdictKind.CONTRADICTORY, (
                f"{scenario}: so in {len(item)} runs ({item[0].run}), otherwise in {len(other)} ({other[0].run})"
            )
    against, not_seen, supporting = (
        [scenario for scenario, stances in by_scenario.items() if stance in stances]
        for stance in (Stance.AGAINST, Stance.NOT_SEEN, Stance.FOR)
    )
    but = f"; {', '.join(supporting)} shows the part of it that is so" if supporting else ""
    if against:
        return VerdictKind.REFUTED, f"the contrary was observed in {', '.join(against)}{but}"
    if not_seen:
        text = f"it was not so in {', '.join(not_seen)}, and nothing there shows the contrary{but}"
        return VerdictKind.NOT_OBSERVED, text
    if shares:
        return VerdictKind.DISTRIBUTION, "; ".join(share_text(share) for share in shares)
    if supporting:
        return VerdictKind.CONFIRMED, f"observed in {', '.join(supporting)}"
    return VerdictKind.UNMEASURED, ""


def _refuters_unseen(claim: str, runs: Sequence[RunSeen]) -> list[str]:
    """The scenarios with a check that refutes the claim, of which no run counts."""
    counting = {run.scenario for run in runs if not run.not_counted}
    refuting = {run.scenario for run in runs if any(check.refutes == claim for check in run.checks)}
    return sorted(refuting - counting)


def _why_unmeasured(counted: Sequence[RunSeen], not_counted: Sequence[tuple[str, str]]) -> str:
    if counted:
        return "no check about it could be answered, or was meant to hold"
    if not_counted:
        name, why = not_counted[0]
        return f"none of {len(not_counted)} runs counts: {name}: {why}"
    return "there is no run"


def share_text(share: Tendency) -> str:
    """`delivered to c: 12 of 20, 60 % (95 % interval 39 to 78 %)`."""
    low, high = share.interval
    return (
        f"{share.check}: {share.held} of {share.total}, {share.held / share.total:.0%} "
        f"(95 % interval {low:.0%} to {high:.0%})"
    )
