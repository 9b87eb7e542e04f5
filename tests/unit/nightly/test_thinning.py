"""Which run folders of a night stay."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.nightly.status import StatusFile
from rocketchaos.harness.nightly.summary import summary_of
from rocketchaos.harness.nightly.thinning import Thinning
from tests.unit.nightly.nights import night_of
from tests.unit.nightly.stories import half_lost, quiet


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


def test_a_night_that_keeps_all_leaves_its_options_to_the_next_one(tmp_path: Path) -> None:
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
