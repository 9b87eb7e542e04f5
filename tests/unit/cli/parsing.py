"""Command lines, parsed as a shell hands them over."""

from __future__ import annotations

import shlex

import typer

from rocketchaos.harness.cli.main import application


def parsed(line: str) -> None:
    """Have a command line parsed, up to a comment or a redirection; nothing runs.

    Raises:
        click.UsageError: the command doesn't take it.
    """
    lexer = shlex.shlex(line, posix=True, punctuation_chars=">;|")
    lexer.whitespace_split = True
    _, *arguments = lexer
    arguments = arguments[: next((n for n, word in enumerate(arguments) if word[0] in ">;|"), None)]
    found = typer.main.get_command(application())
    while hasattr(found, "commands") and arguments and not arguments[0].startswith("-"):
        name, *arguments = arguments
        if name not in found.commands:
            raise AssertionError(f"there is no command {name}: {line}")
        found = getattr(found.commands[name], "loaded", found.commands[name])
    if hasattr(found, "commands"):
        known = {option for parameter in found.params for option in parameter.opts} | {"--help"}
        assert set(arguments) <= known, line
    else:
        try:
            found.make_context("x", arguments)
        except typer.Exit:  # --help
            return
