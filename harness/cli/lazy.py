"""Commands that are imported when they are called: `--help` and `--version` need none of them."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from rocketchaos.harness.cli.ending import Terminated, ending_in_a_code
from rocketchaos.harness.cli.terminal import ERR
from rocketchaos.harness.core.errors import ExitCode, RocketchaosError


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command by its place, with the line that help shows of it."""

    place: str
    """`module:name` of a function, or of one that gives a `typer.Typer` with commands of its own."""
    help: str
    """The first paragraph of the function's docstring; a test compares them."""
    words: bool = False
    """Whether it has an option that takes several words, `--matrix` or `--builds`."""
    group: bool = False
    """Whether it has commands of its own."""

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        module, _, name = self.place.partition(":")
        loaded: Callable[..., Any] = getattr(import_module(module), name)
        return loaded

    def application(self, name: str) -> typer.Typer:
        """The command by itself, as Typer takes it."""
        if self.group:
            group: typer.Typer = self.load()()
            return group
        command = ending_in_a_code(self.load())
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        app.command(name, cls=self._command_class())(command)
        return app

    def _command_class(self) -> type[TyperCommand]:
        if not self.words:
            from rocketchaos.harness.cli.single_options import SingleOptionsCommand

            return SingleOptionsCommand
        from rocketchaos.harness.cli.matrix_option import WordsCommand

        return WordsCommand


class LazyCommand(TyperCommand):
    """Stands for a command in the help, and is replaced by it when it is called."""

    def __init__(self, name: str, entry: CommandEntry) -> None:
        super().__init__(name, help=entry.help, short_help=entry.help)
        self._entry = entry

    @cached_property
    def loaded(self) -> Any:
        """The command itself.

        Raises:
            typer.Exit: the user interrupted the import.
        """
        try:
            return _with_example(
                typer.main.get_command(self._entry.application(str(self.name))), str(self.name)
            )
        except RocketchaosError as problem:  # what it reads at its import: workers of the user's own
            ERR.print(f"rocketchaos: {problem}")
            raise typer.Exit(problem.exit_code) from None
        except Terminated:
            raise typer.Exit(ExitCode.TERMINATED) from None
        except KeyboardInterrupt:
            raise typer.Exit(ExitCode.INTERRUPTED) from None

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """The context of the command itself, so that its help, its options and its completion are its own."""
        return self.loaded.make_context(*arguments, **options)


def _with_example(command: Any, name: str) -> Any:
    """A command, or group of commands, whose help is plain text, keeps paragraphs and ends with an example."""
    from rocketchaos.harness.cli.examples import EXAMPLES

    # Typer keeps the line breaks of docstrings, which fit no terminal.
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    command.short_help = command.help.partition("\n\n")[0]
    command.rich_markup_mode = None
    if name in EXAMPLES:
        command.epilog = f"Example: {EXAMPLES[name]}"
    for below, inner in getattr(command, "commands", {}).items():
        _with_example(inner, f"{name} {below}")
    return command


def lazy_group(entries: Mapping[str, CommandEntry]) -> type[TyperGroup]:
    """The class of a group with these commands, in this order."""

    class LazyGroup(TyperGroup):
        """A group whose commands are not imported yet."""

        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            for name, entry in entries.items():
                self.add_command(LazyCommand(name, entry))

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """The command that is meant; one of a group's own is named with the group."""
            if args[0] not in entries:
                for name in (name for name, entry in entries.items() if entry.group):
                    group: Any = self.commands[name]
                    if args[0] in group.loaded.commands:
                        ctx.fail(f"No such command {args[0]!r}. Did you mean '{name} {args[0]}'?")
            return super().resolve_command(ctx, args)

    return LazyGroup
