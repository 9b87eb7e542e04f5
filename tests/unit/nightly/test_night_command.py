"""`rocketchaos nightly`: what is said before it begins, and what is written and told when it is over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocketchaos.harness.cli import main as cli
from rocketchaos.harness.cli import night_account
from rocketchaos.harness.cli.night_account import NightAccount
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.nightly.generator import draw
from rocketchaos.harness.nightly.night import Night
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.nightly.status import StatusFile
from rocketchaos.harness.nightly.thinning import Thinning
from tests.unit.nightly.nights import night_of
from tests.unit.nightly.stories import half_lost, quiet

PROFILES = {
    "network.yaml": "operations: {partition: 1}\n",
    "differ.yaml": "consistent: only\nacts: {resubscribe: 1}\n",
}


def account_of(night: Night, runs: Path, keep: int | None = None) -> NightAccount:
    return NightAccount(night, frozenset(), StatusFile(runs), Thinning(keep, runs))


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--minutes", "nan"], "less than or equal to 10080"),
        (["--minutes", "inf"], "less than or equal to 10080"),
        (["--minutes", "1e9"], "less than or equal to 10080"),
        (["--reports", "there"], "reports need a store"),
        (
            ["--profile", "network.yaml"],
            "none of the operations that the profile names can be drawn: partition",
        ),
        (
            ["--profile", "differ.yaml"],
            "none of the operations that the profile names can be drawn: resubscribe",
        ),
    ],
)
def test_what_has_no_effect_or_no_end_is_refused(
    words: list[str],
    found: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in PROFILES.items():
        (tmp_path / name).write_text(text)
    assert cli.main(["nightly", *words]) == ExitCode.USAGE
    assert found in " ".join(capsys.readouterr().err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(PROFILES)


def test_what_is_in_no_store_is_not_thinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    account = account_of(night_of((quiet(), None)), tmp_path, keep=0)
    folder = tmp_path / "cut-off" / "run"
    folder.mkdir(parents=True)
    account.thinning.note_cut_off(folder)

    def fails(*_places: object) -> list[Path]:
        raise EnvironmentNotReady("the store is a letter")

    monkeypatch.setattr(night_account, "ingest_and_report", fails)
    assert account.store(tmp_path, "store", tmp_path / "reports") == [ExitCode.ENVIRONMENT]
    assert "are not in the store: the store is a letter" in " ".join(capsys.readouterr().err.split())
    assert folder.is_dir()
    monkeypatch.setattr(night_account, "ingest_and_report", lambda *_places: [])
    assert account.store(tmp_path, "store", tmp_path / "reports") == []
    assert not folder.exists()


def test_what_was_found_is_reported_where_no_file_can_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    account = account_of(night_of((half_lost(), None)), tmp_path / "file")
    codes = account.tell(as_json=False, junit=tmp_path / "file" / "junit.xml")
    assert codes == [ExitCode.ENVIRONMENT] * 2
    shown = capsys.readouterr()
    assert "NEW    wanted-but-not-delivered" in shown.out
    assert "nightly-status.json can't be written" in " ".join(shown.err.split())
    account.tell(as_json=True, junit=None)
    assert json.loads(capsys.readouterr().out)["findings"]


def test_new_findings_decide_the_exit_code_and_else_the_gravest_that_failed(tmp_path: Path) -> None:
    codes = [ExitCode.ENVIRONMENT]
    assert account_of(night_of((half_lost(), None)), tmp_path).exit_code(codes) is ExitCode.NOT_AS_EXPECTED
    silent = account_of(night_of((quiet(), None)), tmp_path)
    assert (silent.exit_code([]), silent.exit_code(codes)) == (ExitCode.AS_EXPECTED, ExitCode.ENVIRONMENT)
    said_nothing = account_of(night_of((quiet(), Trouble.PRECONDITION)), tmp_path)
    assert said_nothing.exit_code([]) is ExitCode.INCONCLUSIVE
    assert said_nothing.exit_code([ExitCode.HARNESS]) is ExitCode.HARNESS


def test_what_is_drawn_names_the_options_that_draw_it() -> None:
    found = [
        draw(7, 3, profile, on)["description"]
        for profile, on in (
            (Profile(), ClusterKind.EMBEDDED),
            (Profile(consistent="only"), ClusterKind.CONTAINERS),
        )
    ]
    assert found == [
        "Drawn by `rocketchaos nightly --seed 7`, number 3.",
        "Drawn by `rocketchaos nightly --seed 7 --on containers --profile FILE`, number 3.",
    ]
