from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from tests.unit.scenario.examples import VALID


def scenario(folder: Path, name: str, control: str) -> Path:
    text = VALID.replace("name: same-group-different-tags", f"name: {name}", 1)
    own = next(line for line in text.splitlines() if line.startswith("control: "))
    file = folder / f"{name}.scenario.yaml"
    file.write_text(text.replace(own, f"control: {control}", 1))
    return file


def test_a_control_that_a_folder_does_not_have_is_said_with_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario(tmp_path, "one", "two")
    file = scenario(tmp_path, "two", "onne")
    assert main(["validate", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert f"{file}:13:10: there is no scenario `onne` here; did you mean `one`?" in said
    assert said.count("there is no scenario") == 1


@pytest.mark.parametrize(
    ("control", "near"),
    [
        ("my-control", None),
        ("one-alone", None),
        ("onee", None),
        ("same-group-same-tag", "same-group-same-tags"),
    ],
)
def test_a_control_still_to_be_written_is_no_other_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], control: str, near: str | None
) -> None:
    scenario(tmp_path, "one", control)
    assert main(["validate", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert f"there is no scenario `{control}` here" in said
    assert ("did you mean" in said, f"did you mean `{near}`?" in said) == (near is not None,) * 2


def test_a_control_may_be_in_the_same_folder_or_come_with_it(tmp_path: Path) -> None:
    scenario(tmp_path, "one", "two")
    scenario(tmp_path, "two", "same-group-same-tags")
    assert main(["validate", str(tmp_path)]) == 0


def test_a_scenario_that_comes_with_it_is_validated_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "same-group-different-tags"]) == 0
    assert "1 valid: same-group-different-tags" in capsys.readouterr().out
    assert main(["validate", "same-group-different-tag"]) == 2
    assert "did you mean `same-group-different-tags`?" in capsys.readouterr().err


def test_of_many_scenarios_only_the_first_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"number-{number}" for number in range(11)]
    for name in names:
        scenario(tmp_path, name, "same-group-same-tags")
    assert main(["validate", str(tmp_path)]) == 0
    number, _, shown = capsys.readouterr().out.strip().partition(" valid: ")
    assert number == "11"
    assert len(shown.split(", ")) == 10
    assert shown.endswith(" and 1 more")


def test_a_single_file_may_have_its_control_anywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", str(scenario(tmp_path, "one", "elsewhere"))]) == 0
    assert "warning: there is no scenario `elsewhere` here" in capsys.readouterr().err
    assert main(["validate", str(scenario(tmp_path, "one", "same-group-same-tags"))]) == 0
    assert "no scenario" not in capsys.readouterr().err


def test_what_no_kind_of_cluster_can_run_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nowhere.scenario.yaml"
    file.write_text(
        "name: nowhere\ntitle: t\ncluster: {proxy: local}\nworkers: containers\n"
        "topics: {orders: {queues: 1}}\nconsumers:\n  a: {group: g, subscribe: {orders: '*'}}\n"
        "steps:\n  - start: a\n  - send: {topic: orders, count: 1}\n"
        "anomaly:\n  - delivered: {to: a, count: 0}\nhealthy:\n  - delivered: {to: a, count: 1}\n"
    )
    assert main(["validate", str(file)]) == 2
    said = capsys.readouterr().err
    assert f"{file}:3:1: no kind of cluster has everything that it needs" in said
    assert "embedded lacks container workers; containers lacks proxy: local" in said
    valid = file.read_text().replace("proxy: local", "proxy: cluster")
    file.write_text(valid)
    assert main(["validate", str(file)]) == 0
    file.write_text(
        f"{valid}producer: {{client: python}}\n".replace("count: 1}", "count: 1, async: true}", 1)
    )
    assert main(["validate", str(file)]) == 2
    said = capsys.readouterr().err
    assert (
        f"{file}:15:1: no version in its range can run it: with RocketMQ 5.5.0 it can't have python" in said
    )


def test_a_file_that_is_no_scenario_is_called_that_and_shows_ten_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "".join(f"A{number:02}: {{sentence: x}}\n" for number in range(300))
    (tmp_path / "claims.yaml").write_text(text)
    file = tmp_path / "claims.yaml"
    assert main(["validate", str(file)]) == 2
    shown = capsys.readouterr().err.splitlines()
    assert shown[0].endswith(
        "claims.yaml:1:1: this file is no scenario: it has none of the keys `name`, `title`, `topics`, "
        "`consumers`, `steps`"
    )
    with pytest.raises(InvalidScenario) as refused:
        parse_scenario(text, "claims.yaml")
    mistakes = len(refused.value.diagnostics)
    assert mistakes > 300
    assert shown[-1] == f"{file}: and {mistakes - 10} more mistakes"
    assert len(shown) == 31


def test_mistakes_come_file_by_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        text = VALID.replace("name: same-group", f"name: {name}").replace("- start:", "- strat:")
        (tmp_path / f"{name}.scenario.yaml").write_text(text)
    assert main(["validate", str(tmp_path)]) == 2
    files = [
        line.partition(".scenario.yaml:")[0].rpartition("/")[2]
        for line in capsys.readouterr().err.splitlines()
        if "strat`" in line
    ]
    assert files == sorted(files)
    assert files.count("one") == files.count("two") > 1


def test_a_few_unlike_keys_beside_those_of_a_scenario_are_no_other_file() -> None:
    with pytest.raises(InvalidScenario) as refused:
        parse_scenario("titel: x\nfoo: y\n", "x.yaml")
    assert "no scenario" not in str(refused.value)
