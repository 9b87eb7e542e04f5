"""The command line as a whole: what the registry says of commands that it doesn't load is true."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import typer

from rocketchaos.harness.cli.main import COMMANDS, application, main


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

    first_words = [line.strip("│ ").partition(" ")[0] for line in capsys.readouterr().out.splitlines()]
    assert [word for word in first_words if word in COMMANDS] == list(COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["validat"], "No such command 'validat'. Did you mean 'validate'?"),
        (["claims", "rn"], "No such command 'rn'. Did you mean 'run'?"),
        (["validate", "--no-such"], "No such option: --no-such"),
        (["validate"], "Missing argument"),
    ],
)
def test_wrong_usage_is_told_and_ends_with_2(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2

    assert text in " ".join(capsys.readouterr().err.replace("│", " ").split())


@pytest.mark.parametrize(("signal", "code"), [(KeyboardInterrupt, 130), ("Terminated", 143)])
def test_an_interruption_while_a_command_is_loaded_ends_with_its_code(
    signal: Any, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocketchaos.harness.cli import ending, lazy

    def interrupted(_name: str) -> None:
        raise ending.Terminated if signal == "Terminated" else signal

    monkeypatch.setattr(lazy, "import_module", interrupted)

    assert main(["list"]) == code


def test_completion_knows_commands_and_their_options(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for typed, wanted in (("rocketchaos val", "validate"), ("rocketchaos list --lo", "--long")):
        monkeypatch.setenv("_ROCKETCHAOS_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
        assert main([]) == 0
        assert wanted in capsys.readouterr().out.split()
