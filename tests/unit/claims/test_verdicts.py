"""Every kind of verdict, from golden runs, and what would make it another one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketchaos.harness.claims.evidence import RunSeen
from rocketchaos.harness.claims.verdicts import Stance, VerdictKind, share_text, stance_of, verdict, verdicts
from rocketchaos.harness.core.model import Holds, OutcomeKind
from tests.unit.claims.golden import again, answering, golden

KILL = golden("kill-flips-the-subscription")
PULLS = golden("pull-at-and-beyond-the-end", as_now=True)
TENDENCY = "\ntendency:\n  - delivered: {to: b, count: 4, claim: A02}\n"
RACE = golden("same-group-different-tags", more=TENDENCY)
"""b, who started later, gets the messages."""


def kind_of(claim: str, *runs: RunSeen) -> VerdictKind:
    return verdict(claim, "4.9.4", runs).kind


def test_confirmed_is_what_held_in_every_run() -> None:
    found = verdict("A05", "4.9.4", [KILL, again(KILL, 2)])
    assert found.kind is VerdictKind.CONFIRMED
    assert found.runs == ("kill-flips-the-subscription/1", "kill-flips-the-subscription/2")
    assert all(proof.check.events and proof.check.claim == "A05" for proof in found.proofs)
    assert kind_of("A05", KILL, again(KILL, 2, answering("A05", Holds.UNKNOWN))) is VerdictKind.CONFIRMED
    assert kind_of("A05", KILL, again(KILL, 2, answering("A05", Holds.NO))) is VerdictKind.CONTRADICTORY


def test_what_could_not_be_seen_is_neither_confirmed_nor_refuted() -> None:
    blind = again(KILL, 2, answering("A05", Holds.UNKNOWN))
    assert stance_of(blind, "A05") is Stance.SILENT
    assert kind_of("A05", blind) is VerdictKind.UNMEASURED


def test_refuted_is_what_a_check_shows_the_contrary_of() -> None:
    found = verdict("F04", "4.9.4", [PULLS])
    assert found.kind is VerdictKind.REFUTED
    assert found.reason == "the contrary was observed in pull-at-and-beyond-the-end"
    (proof,) = found.proofs
    assert proof.check.refutes == "F04"
    assert [proof.run.events[n]["kind"] for n in proof.check.events] == ["pulled"]


@pytest.mark.parametrize("holds", [Holds.NO, Holds.UNKNOWN])
def test_a_contrary_that_is_not_seen_refutes_nothing_and_confirms_nothing(holds: Holds) -> None:
    assert kind_of("F04", again(PULLS, 2, answering("F04", holds))) is VerdictKind.UNMEASURED


def test_a_check_that_carries_a_claim_and_does_not_hold_is_no_contrary_of_it() -> None:
    missing = again(KILL, 2, answering("A05", Holds.NO))
    assert stance_of(missing, "A05") is Stance.NOT_SEEN
    found = verdict("A05", "4.9.4", [missing])
    assert found.kind is VerdictKind.NOT_OBSERVED
    assert (
        found.reason == "it was not so in kill-flips-the-subscription, and nothing there shows the contrary"
    )
    assert found.runs == ("kill-flips-the-subscription/2",)
    assert [proof.check.holds for proof in found.proofs] == [Holds.NO] * len(found.proofs) != []


def test_what_is_refuted_in_one_scenario_needs_no_other() -> None:
    missing = again(replace(KILL, scenario="another"), 2, answering("A05", Holds.NO))
    contrary = replace(KILL, checks=tuple(replace(check, claim=None, refutes="A05") for check in KILL.checks))
    assert kind_of("A05", missing, contrary) is VerdictKind.REFUTED


def test_contradictory_names_both_runs() -> None:
    found = verdict("A05", "4.9.4", [KILL, again(KILL, 2, answering("A05", Holds.NO))])
    assert found.kind is VerdictKind.CONTRADICTORY
    assert "kill-flips-the-subscription/1" in found.reason
    assert "kill-flips-the-subscription/2" in found.reason


def test_scenarios_that_show_different_parts_of_a_claim_are_no_contradiction() -> None:
    other = replace(KILL, scenario="another", run="another/1")
    found = verdict("A05", "4.9.4", [KILL, again(other, 1, answering("A05", Holds.NO))])
    assert found.kind is VerdictKind.NOT_OBSERVED
    assert "kill-flips-the-subscription shows the part of it that is so" in found.reason


def test_a_race_is_a_share_with_its_interval() -> None:
    runs = [RACE, *(again(RACE, number) for number in range(2, 7))]
    lost = [again(RACE, number, answering("A02", Holds.NO)) for number in range(7, 9)]
    unseen = again(RACE, 9, answering("A02", Holds.UNKNOWN))
    found = verdict("A02", "4.9.4", [*runs, *lost, unseen])
    assert found.kind is VerdictKind.DISTRIBUTION
    (share,) = found.shares
    assert (share.held, share.total) == (6, 8)
    assert share_text(share) == "delivered to b: 6 of 8, 75% (95 % interval 41% to 93%)"
    assert len(found.runs) == 8
    assert kind_of("A02", unseen) is VerdictKind.UNMEASURED


def test_what_races_is_no_contradiction_and_refutes_nothing() -> None:
    assert kind_of("A02", again(RACE, 2, answering("A02", Holds.NO))) is VerdictKind.DISTRIBUTION


@pytest.mark.parametrize("name", ["early-flip", "half-of-the-queues", "kill-behind-a-blocked-message"])
def test_only_runs_that_could_be_judged_count(name: str) -> None:
    run = golden(name)
    assert bool(run.not_counted) is (run.outcome in (OutcomeKind.INCONCLUSIVE, OutcomeKind.ERROR))


def test_a_run_that_does_not_count_is_shown_with_its_reason() -> None:
    failed = replace(KILL, run="kill/2", not_counted="error: the broker died", outcome=OutcomeKind.ERROR)
    found = verdict("A05", "4.9.4", [failed])
    assert found.kind is VerdictKind.UNMEASURED
    assert found.reason == "none of 1 runs counts: kill/2: error: the broker died"
    assert verdict("A05", "4.9.4", [KILL, failed]).not_counted == (("kill/2", "error: the broker died"),)


def test_nothing_is_confirmed_while_the_run_that_may_refute_it_is_missing() -> None:
    supporting = replace(
        KILL, checks=tuple(replace(check, claim="F04") for check in KILL.checks if check.claim)
    )
    broken = replace(PULLS, not_counted="error: the broker died", outcome=OutcomeKind.ERROR)
    assert kind_of("F04", supporting) is VerdictKind.CONFIRMED
    assert kind_of("F04", supporting, PULLS) is VerdictKind.REFUTED
    found = verdict("F04", "4.9.4", [supporting, broken])
    assert found.kind is VerdictKind.UNMEASURED
    assert found.reason.endswith("no run counts of pull-at-and-beyond-the-end, which may show the contrary")
    assert (
        kind_of("F04", supporting, broken, again(PULLS, 2, answering("F04", Holds.NO)))
        is VerdictKind.CONFIRMED
    )


def test_the_anomaly_of_a_control_says_nothing() -> None:
    """Its checks don't hold there, and needn't."""
    control = again(KILL, 2, answering("A05", Holds.NO))
    control = replace(
        control,
        outcome=OutcomeKind.NOT_REPRODUCED,
        expected=OutcomeKind.NOT_REPRODUCED,
        checks=tuple(replace(check, section="anomaly") for check in control.checks),
    )
    assert stance_of(control, "A05") is Stance.SILENT
    measured = replace(control, expected=None)
    assert stance_of(measured, "A05") is Stance.NOT_SEEN
    unexpected = replace(control, expected=OutcomeKind.REPRODUCED)
    assert stance_of(unexpected, "A05") is Stance.NOT_SEEN


def test_versions_are_kept_apart() -> None:
    newer = replace(again(KILL, 2, answering("A05", Holds.NO)), rocketmq="5.5.0")
    found = verdicts([KILL, newer])
    assert (found["A05", "4.9.4"].kind, found["A05", "5.5.0"].kind) == (
        VerdictKind.CONFIRMED,
        VerdictKind.NOT_OBSERVED,
    )
