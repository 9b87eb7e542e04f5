"""A night: what begins, what is tried again, what is told, and how it ends."""

from __future__ import annotations

import dataclasses
import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest

from harness.campaign import Campaign
from harness.errors import EnvironmentNotReady, ExitCode, UsageProblem
from harness.job import Job
from harness.model import Outcome, OutcomeKind, Trouble
from harness.nightly import night as night_module
from harness.nightly import reference
from harness.nightly import run as run_module
from harness.nightly.document import text_of
from harness.nightly.duration import expected_s
from harness.nightly.generator import draw
from harness.nightly.known import read_known
from harness.nightly.night import BROKEN_AT_MOST, BROKEN_FOR_GOOD, DRAWS_TO_FIT, TEAR_DOWN_S, Night
from harness.nightly.pace import ENOUGH, UNKNOWN, Pace, Took, budget_s, kind_of, read_history
from harness.nightly.profile import Profile, read_profile
from harness.nightly.run import NightlyRun, judged_run
from harness.nightly.shard import Deal, Shard, shard_of
from harness.nightly.status import StatusFile
from harness.nightly.summary import Summary, summary_of
from harness.nightly.thinning import Thinning
from harness.nightly.told import github_annotations, lines, write_junit
from harness.options import Options
from harness.reporters.base import Report
from harness.spec import parse_scenario
from tests.unit.nightly.stories import Story, half_lost, quiet

TAKES_S = 10.0
SHORT = Profile(dimensions={"acts": {"0": 1}, "groups": {"1": 1}, "client": {"java push": 1}})


class FakeCampaign:
    """Answers each job with what a story says, after some time; no cluster is near."""

    def __init__(self, story: Callable[[int], Story], trouble: Callable[[int], Trouble | None]) -> None:
        self.options = Options()
        self.interrupted = threading.Event()
        self.reports: list[Report] = []
        self.jobs: list[str] = []
        self.now_s = 0.0
        self._story, self._trouble = story, trouble

    def job(self, scenario: Any) -> Job:
        return Job(scenario, "4.9.4")

    def run(self, job: Job, turn: object = None) -> Report:
        number = len(self.jobs) + 1
        self.jobs.append(job.scenario.name)
        self.now_s += TAKES_S
        self.reports.append(report_of(self._story(number), self._trouble(number), job.scenario.name))
        return self.reports[-1]

    def forget(self, report: Report) -> None:
        self.reports.remove(report)


def report_of(story: Story, trouble: Trouble | None, name: str) -> Report:
    error = trouble in (Trouble.ENVIRONMENT, Trouble.HARNESS)
    kind = OutcomeKind.ERROR if error else OutcomeKind.INCONCLUSIVE if trouble else OutcomeKind.REPRODUCED
    messages = tuple(story.judged.fates)
    scenario = story.scenario.model_copy(update={"name": name})
    return Report(
        scenario=scenario,
        outcome=Outcome(kind, None, None, f"it is {trouble}", trouble, (), messages),
        events=story.events,
        record={"seed": 7, "seconds": 1.0, "load": {"busy_share": 0.5}},
        folder=Path("runs") / name,
    )


def played(
    campaign: FakeCampaign, minutes: float = 3.0, profile: Profile = SHORT, shard: Shard | None = None
) -> Night:
    night = Night(7, profile, minutes, shard or Shard(), clock=lambda: campaign.now_s, parallel=1)
    night.play(cast(Campaign, campaign), lambda _run: None)
    return night


def always(what: Any) -> Callable[[int], Any]:
    return lambda _number: what


def night_of(*parts: tuple[Story, Trouble | None]) -> Night:
    """A night whose runs are these."""
    night = Night(7, Profile(), 5.0, Shard())
    for number, (story, trouble) in enumerate(parts, 1):
        night.runs.append(judged_run(number, report_of(story, trouble, f"nightly-7-{number}"), 1))
    return night


def summary(*parts: tuple[Story, Trouble | None], known: frozenset[str] = frozenset()) -> Summary:
    return summary_of(night_of(*parts), known)


# What begins -------------------------------------------------------------------------------------------


def test_scenarios_run_one_after_the_other_until_the_time_is_up() -> None:
    campaign = FakeCampaign(always(quiet()), always(None))
    night = played(campaign)
    assert 10 <= len(night.runs) <= 17
    assert night.took_s <= 180 - TEAR_DOWN_S
    numbers = [int(name.rpartition("-")[2]) for name in campaign.jobs]
    assert numbers == sorted(numbers)
    assert numbers[:9] == list(range(1, 10))  # later ones may be too long for what is left


def test_what_cannot_end_in_time_does_not_begin() -> None:
    campaign = FakeCampaign(always(quiet()), always(None))
    night = played(campaign, minutes=(TEAR_DOWN_S + 1) / 60)
    assert campaign.jobs == []
    assert night.passed_over == DRAWS_TO_FIT
    assert summary_of(night, frozenset()).exit_code is ExitCode.INCONCLUSIVE


def test_what_is_too_long_for_the_profile_is_passed_over() -> None:
    campaign = FakeCampaign(always(quiet()), always(None))
    night = played(campaign, profile=Profile.model_validate({"longest": "12s"}))
    assert night.passed_over > 1
    assert campaign.jobs


def test_what_this_version_can_not_do_is_passed_over() -> None:
    campaign = FakeCampaign(always(quiet()), always(None))
    profile = Profile(dimensions={**SHORT.dimensions, "client": {"java pop": 1, "java push": 1}})
    night = played(campaign, profile=profile)  # of 4.9.4, which has no POP
    assert night.passed_over > 1
    assert night.runs


def test_what_takes_longer_than_expected_is_cut_off_when_the_time_is_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(night_module, "CUT_OFF_S", 180 - 0.2)
    campaign = FakeCampaign(always(quiet()), always(None))

    def never_ends(job: Job, turn: object = None) -> Report:
        assert campaign.interrupted.wait(20)
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "run", never_ends)
    night = played(campaign)
    assert (night.runs, night.cut_off) == ([], 1)


def test_an_interruption_by_the_user_is_none_of_the_clock() -> None:
    def interrupts(_number: int) -> Story:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        played(FakeCampaign(interrupts, always(None)))


def test_orderly_members_and_touched_brokers_are_expected_to_take_longer() -> None:
    plain = text_of(draw(7, 1, SHORT)).replace(", listener: orderly", "")
    orderly = plain.replace("group: g1,", "group: g1, listener: orderly,")
    touched = plain.replace("  - settle: {sealed", "  - restart: broker-a\n  - settle: {sealed", 1)
    lengths = [expected_s(parse_scenario(text, "x")) for text in (plain, orderly, touched)]
    assert lengths[1] > lengths[0] + 15
    assert lengths[2] > lengths[0] + 25


def test_the_pace_is_learnt_by_kind() -> None:
    pace = Pace()
    assert pace.factor("slow") == UNKNOWN
    before = pace.needs_s("slow", 10.0)
    pace.learn("slow", 10.0, 40.0)
    assert pace.needs_s("slow", 10.0) == 2 * before
    for _ in range(ENOUGH):
        pace.learn("quick", 10.0, 10.0)
    assert pace.factor("quick") == 1.0
    assert pace.factor("slow") == pace.factor("unheard of")  # one of a kind doesn't speak for itself
    assert 1.0 < pace.factor("slow") < 4.0


def test_kinds_are_told_apart_by_what_makes_them_slow() -> None:
    kinds = {kind_of(parse_scenario(text_of(draw(7, number, Profile())), "x")) for number in range(1, 40)}
    assert len(kinds) > 3
    assert any(kind.startswith("own cluster, ") for kind in kinds)
    assert any(kind.endswith(", orderly") for kind in kinds)


def test_a_night_goes_on_from_the_pace_of_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "nightly-status.json"
    endless = '{"pace": {"slow": {"runs": Infinity, "expected_s": 1, "took_s": 1}}}'
    for text in ("{", "[]", '{"pace": "fast"}', '{"pace": {"slow": {"runs": 1}}}', endless):
        file.write_text(text)
        assert StatusFile(tmp_path).history == {}
        with pytest.raises(UsageProblem, match="tells nothing of how long scenarios take"):
            read_history(file)
    night = night_of((quiet(), None))
    night.pace = Pace({"slow": Took(40, 400.0, 1600.0)})
    StatusFile(tmp_path).write(summary_of(night, frozenset()), [], ended=True)
    before = StatusFile(tmp_path).history
    pace = Pace(before)
    assert pace.factor("slow") == 4.0
    for _ in range(10):  # what was long ago counts as ten at most
        pace.learn("slow", 10.0, 10.0)
    assert pace.factor("slow") == 2.5
    assert budget_s(before, "slow", 10.0) == 40.0


def test_only_what_the_environment_broke_is_tried_again_and_only_once() -> None:
    troubles = {1: Trouble.ENVIRONMENT, 3: Trouble.HARNESS, 4: Trouble.ENVIRONMENT, 5: Trouble.ENVIRONMENT}
    campaign = FakeCampaign(always(quiet()), troubles.get)
    night = played(campaign)
    tries = [run.tries for run in night.runs]
    assert tries[:3] == [2, 1, 2]
    made = summary_of(night, frozenset())
    assert (made.again, len(made.errors)) == (2, 2)
    assert made.exit_code is ExitCode.AS_EXPECTED  # there is no finding; errors are told


def test_a_night_of_which_the_environment_breaks_every_run_is_over_soon() -> None:
    campaign = FakeCampaign(always(quiet()), always(Trouble.ENVIRONMENT))
    with pytest.raises(
        EnvironmentNotReady, match="3 runs in turn came to nothing, and no other: environment"
    ):
        played(campaign, minutes=60.0)
    assert len(campaign.jobs) == 2 * BROKEN_AT_MOST


def test_a_night_that_was_good_so_far_goes_on_when_the_environment_breaks() -> None:
    campaign = FakeCampaign(always(quiet()), lambda number: None if number == 1 else Trouble.ENVIRONMENT)
    night = played(campaign, minutes=10.0)
    assert len(night.runs) > 2 * BROKEN_AT_MOST


def test_a_night_in_which_everything_breaks_for_good_ends_and_tells_what_it_found() -> None:
    campaign = FakeCampaign(always(half_lost()), lambda number: None if number == 1 else Trouble.ENVIRONMENT)
    night = played(campaign, minutes=600.0)
    assert len(night.runs) == 1 + BROKEN_FOR_GOOD
    made = summary_of(night, frozenset())
    assert made.exit_code is ExitCode.NOT_AS_EXPECTED
    assert "it ended before its time: the environment broke whatever began" in list(lines(made))
    assert made.as_json()["scenarios"]["gave_up"] is True


def test_a_run_that_cannot_even_begin_is_tried_again_and_counted() -> None:
    def full_disk(number: int) -> Story:
        if number in (2, 4, 5):
            raise EnvironmentNotReady("no run folder can be made", "Choose another place.")
        return quiet()

    night = played(FakeCampaign(full_disk, always(None)))
    assert [run.tries for run in night.runs[:4]] == [1, 2, 2, 1]
    never_begun = night.runs[2]
    assert never_begun.not_judged == "environment: no run folder can be made"
    assert (never_begun.error, never_begun.findings) == (ExitCode.ENVIRONMENT, ())
    assert summary_of(night, frozenset()).again == 2


def test_where_the_second_try_is_cut_off_the_first_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(night_module, "CUT_OFF_S", 180 - 0.2)
    campaign = FakeCampaign(always(quiet()), always(Trouble.ENVIRONMENT))

    def second_never_ends(job: Job, turn: object = None) -> Report:
        if not campaign.jobs:
            return FakeCampaign.run(campaign, job, turn)
        assert campaign.interrupted.wait(20)
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "run", second_never_ends)
    night = played(campaign)
    assert (len(night.runs), night.cut_off) == (1, 1)
    assert night.runs[0].error is ExitCode.ENVIRONMENT


def test_what_failed_says_nothing_of_how_long_scenarios_take() -> None:
    troubles = {1: Trouble.ENVIRONMENT, 2: Trouble.ENVIRONMENT, 3: Trouble.PRECONDITION}
    night = played(FakeCampaign(always(quiet()), troubles.get))
    assert sum(took.runs for took in night.pace.known.values()) == len(night.runs) - 2
    again = played(FakeCampaign(always(quiet()), {1: Trouble.ENVIRONMENT}.get), minutes=1.0)
    (first, *_others) = again.pace.known.values()
    assert again.runs[0].tries == 2
    assert first.took_s == first.runs * TAKES_S  # of the try that ended, not of both


@pytest.mark.parametrize(
    ("profile", "told"),
    [
        ({"longest": "1s"}, r"nightly-7-20 is expected to take \d+ s, `longest` are 1 s"),
        ({"dimensions": {"client": {"java pop": 1}}}, "nightly-7-20"),
    ],
)
def test_a_profile_that_permits_nothing_is_refused(
    profile: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(night_module, "DRAWS_FOR_ONE", 20)
    campaign = FakeCampaign(always(quiet()), always(None))
    with pytest.raises(UsageProblem, match=f"of 20 scenarios none can be run .*{told}"):
        played(campaign, profile=Profile.model_validate(profile))
    assert campaign.jobs == []


def test_nobody_goes_on_drawing_where_there_is_nothing_to_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(night_module, "DRAWS_FOR_ONE", 20)
    campaign = FakeCampaign(always(quiet()), always(None))
    night = Night(7, Profile.model_validate({"longest": "1s"}), 3.0, Shard(), clock=lambda: 0.0, parallel=3)
    with pytest.raises(UsageProblem):
        night.play(cast(Campaign, campaign), lambda _run: None)
    assert night.passed_over == 20 + 2


def test_an_invariant_that_crashes_ends_no_night_and_is_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_unused: object) -> None:
        raise ValueError("oh")

    monkeypatch.setattr(run_module, "findings", crash)
    made = summary((quiet(), None))
    assert made.not_judged[0].not_judged == "an invariant failed: ValueError: oh"
    assert made.exit_code is ExitCode.HARNESS


def test_what_fails_in_one_worker_ends_the_night() -> None:
    def fails(_number: int) -> Story:
        raise UsageProblem("no such version")

    campaign = FakeCampaign(fails, always(None))
    with pytest.raises(UsageProblem):
        played(campaign)
    assert campaign.interrupted.is_set()


# How it ends -------------------------------------------------------------------------------------------


def test_new_findings_alone_decide_the_exit_code() -> None:
    found = summary((half_lost(), None), (quiet(), None))
    assert found.exit_code is ExitCode.NOT_AS_EXPECTED
    (one,) = found.found
    assert (len(one.runs), one.known) == (1, False)
    known = summary((half_lost(), None), known=frozenset({one.signature}))
    assert (known.exit_code, len(known.found), known.new) == (ExitCode.AS_EXPECTED, 1, ())


def test_what_was_not_reached_is_neither_finding_nor_error() -> None:
    made = summary((half_lost(), Trouble.PRECONDITION), (quiet(), None))
    assert (made.found, made.errors, len(made.inconclusive)) == ((), [], 1)
    assert made.exit_code is ExitCode.AS_EXPECTED


def test_where_nothing_was_judged_the_exit_code_says_why() -> None:
    assert summary((quiet(), Trouble.ENVIRONMENT)).exit_code is ExitCode.ENVIRONMENT
    assert summary((quiet(), Trouble.PRECONDITION)).exit_code is ExitCode.INCONCLUSIVE
    assert summary().exit_code is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize("trouble", [Trouble.ENVIRONMENT, Trouble.HARNESS])
def test_an_error_neither_hides_a_finding_nor_is_one(trouble: Trouble) -> None:
    assert summary((quiet(), None), (quiet(), trouble)).exit_code is ExitCode.AS_EXPECTED
    assert summary((half_lost(), None), (quiet(), trouble)).exit_code is ExitCode.NOT_AS_EXPECTED


def test_one_cause_in_many_runs_is_one_finding() -> None:
    made = summary(*[(half_lost(), None)] * 3)
    (one,) = made.found
    assert len(one.runs) == 3


# What is told ------------------------------------------------------------------------------------------


def test_the_text_has_what_one_needs() -> None:
    text = "\n".join(lines(summary((half_lost(), None), (quiet(), Trouble.PRECONDITION))))
    assert "seed 7: 2 scenarios" in text
    assert "1 judged, 1 inconclusive, 0 errors" in text
    assert "NEW    wanted-but-not-delivered: filtered-by-client" in text
    assert "rocketchaos shrink runs/nightly-7-1" in text
    assert "says nothing: nightly-7-2: precondition: it is precondition" in text


def test_the_status_file_has_every_run_that_shows_it() -> None:
    document = json.loads(json.dumps(summary((half_lost(), None)).as_json()))
    (one,) = document["findings"]
    assert one["shown_by"][0]["run"] == "runs/nightly-7-1"
    assert one["shown_by"][0]["seed"] == 7
    assert one["shown_by"][0]["events"]
    assert document["scenarios"] == {
        "run": 1,
        "judged": 1,
        "inconclusive": 0,
        "errors": 0,
        "tried_again": 0,
        "passed_over": 0,
        "cut_off": 0,
        "gave_up": False,
    }
    assert document["exit_code"] == 1
    assert [document[name] for name in ("rocketmq", "on", "parallel")] == ["4.9.4", "embedded", None]


def test_github_is_told_of_new_ones_as_errors_and_of_known_ones_as_notices() -> None:
    made = summary((half_lost(), None))
    (line,) = github_annotations(made)
    assert line.startswith("::error title=wanted-but-not-delivered%3A filtered-by-client%3A ")
    assert "%0Arocketchaos shrink " in line
    known = summary((half_lost(), None), known=frozenset({made.found[0].signature}))
    assert next(github_annotations(known)).startswith("::notice ")


def test_junit_has_a_case_for_each_scenario(tmp_path: Path) -> None:
    file = tmp_path / "out" / "junit.xml"
    write_junit(
        summary((half_lost(), None), (quiet(), Trouble.PRECONDITION), (quiet(), Trouble.HARNESS)), file
    )
    suite = ElementTree.parse(file).getroot()[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    assert [[part.tag for part in case] for case in suite] == [["failure"], ["skipped"], ["error"]]


# What a user may say -----------------------------------------------------------------------------------


def test_shards_share_all_scenarios_and_have_as_much_to_do() -> None:
    lengths = [float(5 + 60 * (number % 7 == 0)) for number in range(100)]
    deals = [Deal(shard_of(f"{index}/3")) for index in (1, 2, 3)]
    taken = [[deal.is_own(length) for deal in deals] for length in lengths]
    assert all(sum(one) == 1 for one in taken)
    loads = [
        sum(length for length, own in zip(lengths, taken, strict=True) if own[index]) for index in range(3)
    ]
    assert max(loads) - min(loads) <= 65


def test_shards_of_a_night_play_different_scenarios() -> None:
    campaigns = [FakeCampaign(always(quiet()), always(None)) for _ in range(2)]
    for index, campaign in enumerate(campaigns, 1):
        played(campaign, shard=Shard(index, 2))
    first, second = ({*campaign.jobs} for campaign in campaigns)
    assert first
    assert second
    assert not first & second


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageProblem, match="is no shard"):
        shard_of(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dimensions: {memebers: {'2': 1}}", "did you mean `members`"),
        ("dimensions: {members: {'9': 1}}", "there is no word of `members` `9`"),
        ("dimensions: {members: {'2': 0}}", "nothing is left of `members`"),
        ("acts: {kil: 1}", "did you mean `kill`"),
        ("anchors: {flow: 0}", "nothing is left of `anchors`"),
        ("consistent: yes", "consistent"),
        ("longest: 30", "duration needs a number and a unit"),
        ("wrong: 1", "wrong"),
        ("[", "profile.yaml:1:"),
        ("- acts", "a profile is a mapping"),
        ("acts: {0: 1}", "a key must be text"),
        ("acts: {kill: 1}\nacts: {stop: 1}", "the key `acts` is already in line 1"),
        ("acts: {kill: .nan}", "acts.kill"),
        ("acts: {kill: " + "9" * 5000 + "}", "this number is too long"),
        ("longest: 2026-13-45", "longest"),
        ("acts: " + "[" * 2000, "levels deep"),
    ],
)
def test_a_wrong_profile_is_one_message(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "profile.yaml"
    file.write_text(text)
    with pytest.raises(UsageProblem, match=told):
        read_profile(file)


def test_a_profile_that_says_nothing_is_the_usual_one(tmp_path: Path) -> None:
    file = tmp_path / "profile.yaml"
    file.write_text("# nothing\n")
    assert read_profile(file) == Profile()
    with pytest.raises(UsageProblem, match="can't be read"):
        read_profile(tmp_path / "none.yaml")


def test_known_findings_are_lines(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text("# ours\n\nlost: it is\n  stuck: so\n")
    assert read_known(file) == {"lost: it is", "stuck: so"}
    assert read_known(None) == frozenset()
    with pytest.raises(UsageProblem, match="can't be read"):
        read_known(tmp_path / "none.txt")


def test_of_silent_runs_only_the_last_stay(tmp_path: Path) -> None:
    parts = [
        (quiet(), None),
        (half_lost(), None),
        (quiet(), Trouble.PRECONDITION),
        (quiet(), None),
        (quiet(), None),
    ]
    thinning = Thinning(1, tmp_path)
    for run in night_of(*parts).runs:
        thinning.note(dataclasses.replace(run, folder=_folder(tmp_path, run.name)))
    assert thinning.removed == 0
    thinning.thin()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["nightly-7-2", "nightly-7-3", "nightly-7-5"]
    assert thinning.removed == 2


def test_a_run_that_shows_something_stays_though_an_invariant_failed(tmp_path: Path) -> None:
    (run,) = night_of((half_lost(), None)).runs
    thinning = Thinning(0, tmp_path)
    half_judged = dataclasses.replace(run, not_judged="an invariant failed: ValueError: oh")
    thinning.note(dataclasses.replace(half_judged, folder=_folder(tmp_path, "shown")))
    thinning.thin()
    assert (tmp_path / "shown" / "run").is_dir()


def test_silent_runs_of_the_night_before_go_first(tmp_path: Path) -> None:
    (silent,), (says_nothing,) = night_of((quiet(), None)).runs, night_of((quiet(), Trouble.HARNESS)).runs
    runs, elsewhere = tmp_path / "runs", _folder(tmp_path / "elsewhere", "mine")
    before = Thinning(2, runs)
    for number in (1, 2):
        before.note(dataclasses.replace(silent, folder=_folder(runs, f"before-{number}")))
        before.note(dataclasses.replace(says_nothing, folder=_folder(runs, f"said-nothing-{number}")))
    summary_before = summary_of(night_of((quiet(), None)), frozenset())
    StatusFile(runs).write(summary_before, [*before.left, str(elsewhere), str(runs)], ended=False)
    tonight = Thinning(2, runs, StatusFile(runs).may_be_removed)
    tonight.note(dataclasses.replace(silent, folder=_folder(runs, "tonight")))
    shutil.rmtree(runs / "said-nothing-1")  # somebody else tidies up as well
    tonight.thin()
    assert sorted(path.name for path in runs.iterdir() if path.is_dir()) == ["before-2", "tonight"]
    assert elsewhere.is_dir()


def test_nothing_is_removed_where_all_is_kept(tmp_path: Path) -> None:
    (run,) = night_of((quiet(), None)).runs
    thinning = Thinning(None, tmp_path)
    thinning.note(dataclasses.replace(run, folder=_folder(tmp_path, "kept")))
    thinning.thin()
    assert (thinning.left, thinning.removed) == ([], 0)
    assert (tmp_path / "kept" / "run").is_dir()


def test_a_night_that_keeps_all_leaves_to_the_next_one_what_it_was_told(tmp_path: Path) -> None:
    assert Thinning(None, tmp_path, ["runs/x"]).left == ["runs/x"]


def test_what_was_cut_off_or_broken_before_its_second_try_goes_too(tmp_path: Path) -> None:
    (run,) = night_of((quiet(), None)).runs
    thinning = Thinning(0, tmp_path)
    again = dataclasses.replace(run, folder=_folder(tmp_path, "again"), broken=(_folder(tmp_path, "broken"),))
    thinning.note(again)
    thinning.note_cut_off(_folder(tmp_path, "cut-off"))
    thinning.thin()
    assert (thinning.removed, list(tmp_path.iterdir())) == (3, [])


def _folder(runs: Path, name: str) -> Path:
    folder = runs / name / "run"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    (folder.parent / "latest").symlink_to("run")
    return folder


def test_the_status_file_is_written_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    made = summary((half_lost(), None))
    status = StatusFile(tmp_path)
    status.write(made, [], ended=False)
    assert json.loads(status.path.read_text())["ended"] is None
    status.write(made, [], ended=True)
    assert json.loads(status.path.read_text())["ended"] is not None
    assert [path.name for path in tmp_path.iterdir()] == ["nightly-status.json"]
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentNotReady, match=r"nightly-status.json can't be written"):
        StatusFile(tmp_path / "file").write(made, [], ended=True)


def test_the_reference_is_up_to_date() -> None:
    file = Path(reference.__file__).with_name("README.md")
    assert file.read_text() == reference.reference(), (
        "python -m harness.nightly.reference > harness/nightly/README.md"
    )


def test_a_run_tells_why_it_says_nothing() -> None:
    (run,) = night_of((quiet(), Trouble.PRECONDITION)).runs
    assert isinstance(run, NightlyRun)
    assert run.not_judged == "precondition: it is precondition"
