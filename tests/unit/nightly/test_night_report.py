"""What a night tells: the text, the status file, annotations, JUnit."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.nightly.night_report import github_annotations, lines, write_junit
from rocketchaos.harness.nightly.status import StatusFile
from tests.unit.nightly.nights import summary
from tests.unit.nightly.stories import half_lost, quiet


def test_the_text_has_what_one_needs() -> None:
    text = "\n".join(lines(summary((half_lost(), None), (quiet(), Trouble.PRECONDITION))))
    assert "seed 7: 2 scenarios" in text
    assert "1 judged, 1 inconclusive, 0 errors" in text
    assert "NEW    wanted-but-not-delivered-filtered-by-client-tags: filtered-by-client: " in text
    assert "rocketchaos shrink runs/nightly-7-1" in text
    assert "says nothing: nightly-7-2: precondition: it is precondition" in text


def test_a_service_that_differs_from_the_profile_is_shown_and_is_no_finding() -> None:
    differs = quiet()
    differs.add("a", "program-subscription", subscribe={"orders": "tagA"}, pid=1)
    agrees = quiet()
    agrees.add("a", "program-subscription", subscribe={"orders": "*"}, pid=1)
    made = summary((agrees, None), (differs, None))
    words = "the service subscribes to orders 'tagA', and the profile says orders '*'"
    text = "\n".join(lines(made))
    assert f"observed: {words}\n       in 1 run of 2, as in runs/nightly-7-2" in text
    assert made.as_json()["observed"] == [{"what": words, "runs": ["runs/nightly-7-2"]}]
    (line,) = github_annotations(made)
    assert line.startswith(f"::warning title=observed::{words}")
    assert (made.exit_code, made.found) == (0, ())


def test_the_status_file_has_every_run_that_shows_it() -> None:
    document = json.loads(json.dumps(summary((half_lost(), None)).as_json()))
    (item,) = document["findings"]
    assert item["shown_by"][0]["run"] == "runs/nightly-7-1"
    assert item["shown_by"][0]["seed"] == 7
    assert item["shown_by"][0]["events"]
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


def test_github_gets_new_ones_as_errors_and_known_ones_as_notices() -> None:
    made = summary((half_lost(), None))
    (line,) = github_annotations(made)
    assert line.startswith(
        "::error title=wanted-but-not-delivered-filtered-by-client-tags%3A filtered-by-client%3A "
    )
    assert "%0Arocketchaos shrink " in line
    known = summary((half_lost(), None), known=frozenset({made.found[0].code}))
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
