"""The command line as a whole: what the registry says of commands that it doesn't load is true."""

from __future__ import annotations

import inspect
import itertools
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from rocketchaos.harness.cli import report_options, report_store
from rocketchaos.harness.cli.examples import EXAMPLES
from rocketchaos.harness.cli.main import COMMANDS, application, main
from rocketchaos.harness.cli.next_steps import NEXT_STEPS
from rocketchaos.harness.core.errors import ExitCode
from tests.unit.cli.parsing import parsed


def command(name: str) -> Any:
    return typer.main.get_command(application()).commands[name]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_all_commands_says_of_each_what_its_own_says(name: str) -> None:
    loaded = command(name).loaded

    first = inspect.cleandoc(loaded.help).partition("\n\n")[0]
    assert " ".join(first.split()) == COMMANDS[name].help


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_an_option_of_several_words_where_it_is_said_to(name: str) -> None:
    options = {option for parameter in command(name).loaded.params for option in parameter.opts}

    assert bool({"--matrix", "--builds"} & options) == COMMANDS[name].words


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_is_its_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0

    text = " ".join(capsys.readouterr().out.split())
    assert f"Usage: rocketchaos {name} " in text
    assert COMMANDS[name].help[:40] in text


def test_the_help_has_all_commands_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0

    first_words = [line.strip().partition(" ")[0] for line in capsys.readouterr().out.splitlines()]
    assert [word for word in first_words if word in COMMANDS] == list(COMMANDS)


def test_the_help_of_all_ends_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0

    _, _, example = capsys.readouterr().out.rpartition("Example: ")
    parsed(" ".join(example.split()))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["validat"], "No such command 'validat'. Did you mean 'validate'?"),
        (["claims", "rn"], "No such command 'rn'. Did you mean 'run'?"),
        (["validate", "--no-such"], "No such option: --no-such"),
        (["validate"], "Missing argument"),
        (
            ["run", "x", "--rocketmq", "4.9.4", "--rocketmq=5.5.0"],
            "'--rocketmq': it takes one value, but 2 are given",
        ),
        (["claims", "table", "--out", "a", "--out", "b"], "'--out': it takes one value, but 2 are given"),
        (
            ["reproduce", "a", "b", "c"],
            "it takes 1 argument, not 3. `rocketchaos run` takes several scenarios.",
        ),
        (["up", "a"], "it takes no arguments, not 1. Leave out a."),
        (["down", "a", "b"], "it takes 1 argument, not 2. Leave out b."),
        (["report", "all", "--store", "a", "--store", "b"], "'--store': it takes one value, but 2 are given"),
    ],
)
def test_wrong_usage_is_reported_and_ends_with_2(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2

    assert text in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("interruption", "code"), [(KeyboardInterrupt, 130), ("Terminated", 143)])
def test_an_interruption_while_a_command_is_loaded_ends_with_its_code(
    interruption: Any, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocketchaos.harness.cli import ending, lazy

    def interrupted(_name: str) -> None:
        raise ending.Terminated if interruption == "Terminated" else interruption

    monkeypatch.setattr(lazy, "import_module", interrupted)

    assert main(["list"]) == code


@pytest.fixture
def own_sigterm() -> Iterator[None]:
    """What a command makes of SIGTERM ends with the test."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("own_sigterm")
def test_sigterm_before_the_command_runs_ends_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    from rocketchaos.harness.cli import lazy

    def terminated(*_arguments: object, **_options: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(lazy.LazyCommand, "make_context", terminated)
    assert main(["list"]) == 143


@pytest.mark.usefixtures("own_sigterm")
def test_a_second_sigterm_breaks_nothing_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """`timeout` sends one to its child and one to the whole group."""
    from rocketchaos.harness.cli import ending, lazy

    cleared_up = []

    def terminated(*_arguments: object, **_options: object) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except ending.Terminated:
            signal.raise_signal(signal.SIGTERM)
            cleared_up.append("all")
            raise

    monkeypatch.setattr(lazy.LazyCommand, "make_context", terminated)
    assert main(["list"]) == 143
    assert cleared_up == ["all"]


def test_completion_knows_commands_and_their_options(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for typed, wanted in (
        ("rocketchaos val", "validate"),
        ("rocketchaos list --lo", "--long"),
        ("rocketchaos reproduce same-group-d", "same-group-different-tags"),
        ("rocketchaos bisect retries-f", "retries-filtered-by-sql"),
        ("rocketchaos new mine --from same-group-d", "same-group-different-tags"),
        ("rocketchaos explain sett", "settle"),
        ("rocketchaos claims bisect E1", "E14"),
    ):
        monkeypatch.setenv("_ROCKETCHAOS_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
        assert main([]) == 0
        assert wanted in capsys.readouterr().out.split()


def all_commands() -> list[str]:
    below = {name: getattr(command(name).loaded, "commands", {}) for name in COMMANDS}
    return [*COMMANDS, *(f"{name} {inner}" for name, group in below.items() for inner in group)]


def test_every_command_has_an_example_of_its_own() -> None:
    assert sorted(all_commands()) == sorted(EXAMPLES)
    for name, example in EXAMPLES.items():
        assert f"{example} ".startswith(f"rocketchaos {name} ")
        parsed(example)


def test_an_example_with_a_slip_is_noticed() -> None:
    with pytest.raises(Exception, match="No such option: --no-such"):
        parsed("rocketchaos list --no-such")


@pytest.mark.parametrize("name", all_commands())
def test_help_fits_80_columns_and_ends_with_the_example(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*name.split(), "--help"]) == 0

    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= 80
    assert " ".join(" ".join(lines).split()).endswith(f"Example: {EXAMPLES[name]}")
    # A paragraph breaks where the width ends, not where its source does.
    assert not any(
        before and after and len(before) + len(after.split()[0]) < 75
        for before, after in itertools.pairwise(text_of(lines))
    )


def test_help_names_the_default_of_what_tidy_keeps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "tidy", "--help"]) == 0

    words = " ".join(capsys.readouterr().out.split())
    assert "Default: all are kept." in words


@pytest.mark.parametrize("command", ["ingest", "all", "diff", "tidy"])
def test_a_store_or_runs_that_are_not_there_are_said_before_a_spark_starts(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report_options, "spark_for", None)
    monkeypatch.setattr(report_store, "spark_for", None)
    store = ["--store", str(tmp_path / "store")]
    given = {"ingest": [str(tmp_path), *store], "all": [*store, "--out", str(tmp_path / "out")]}
    assert main(["report", command, *given.get(command, store)]) == ExitCode.USAGE
    said = "there are no run folders: " if command == "ingest" else "there is no store at "
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("given", "meant"), [("ingest", "report ingest"), ("valdate", "validate")])
def test_a_command_that_is_meant_is_named(given: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([given]) == ExitCode.USAGE
    assert f"No such command '{given}'. Did you mean '{meant}'?" in capsys.readouterr().err


def text_of(lines: list[str]) -> list[str]:
    """The paragraphs between the usage and the first list."""
    ends = [number for number, line in enumerate(lines) if line in ("Arguments:", "Options:")]
    return lines[lines.index("") : ends[0]]


def test_alone_it_shows_what_to_do_next(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0

    shown = capsys.readouterr().out.splitlines()
    assert len(shown) < 15
    assert max(map(len, shown)) <= 80
    for _, line in NEXT_STEPS:
        assert any(text.endswith(f"  {line}") for text in shown)
        parsed(line)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_installed(
    shell: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typer.completion._get_shell_name", lambda: shell)
    assert main(["--show-completion"]) == 0

    assert "_ROCKETCHAOS_COMPLETE" in capsys.readouterr().out
