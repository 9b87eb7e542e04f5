"""How commands speak: data on standard output, progress and complaints on standard error."""

from __future__ import annotations

import json
import sys
from functools import cached_property
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status


class Speaker:
    """Writes plain text as it is. `rich` is imported only for what has colours, tables or a spinner."""

    def __init__(self, *, stderr: bool = False) -> None:
        self._stderr = stderr

    @property
    def file(self) -> TextIO:
        """Where it writes now."""
        return sys.stderr if self._stderr else sys.stdout

    @property
    def is_terminal(self) -> bool:
        """Whether somebody reads it on a screen."""
        return self.file.isatty()

    @cached_property
    def rich(self) -> Console:
        """The same as a console of rich, whose reader may go, as `head` does; see `harness.cli.ending`."""
        from rich.console import Console

        class _Console(Console):
            def on_broken_pipe(self) -> None:
                """Instead of the exit code 1 of rich."""
                raise BrokenPipeError

        return _Console(stderr=self._stderr, highlight=False, soft_wrap=True)

    def print(self, what: object = "", *, markup: bool = False) -> None:
        """Write a line; with `markup`, tags such as `[bold]` are styles. Tables go through rich."""
        if isinstance(what, str) and not markup:
            self.file.write(f"{what}\n")
            self.file.flush()
        else:
            self.rich.print(what)

    def print_json(self, document: object) -> None:
        """Write a document, indented; nothing else belongs on standard output then."""
        json.dump(document, self.file, indent=2, ensure_ascii=False)
        self.file.write("\n")


OUT = Speaker()
"""Data: verdicts, lists."""
ERR = Speaker(stderr=True)
"""Progress and complaints."""


def tell_left_out(line: str) -> None:
    """Say on standard error what a command leaves out, and why."""
    ERR.print(f"left out: {line}")


class Progress:
    """Says what takes time: a spinner on a terminal, otherwise one line a change, always on standard error."""

    def __init__(self) -> None:
        self._status: Status | None = None
        self._last = ""

    def __call__(self, text: str) -> None:
        if text == self._last:
            return
        self._last = text
        if not ERR.is_terminal:
            ERR.print(f"{text} ...")
        elif self._status is None:
            self._status = ERR.rich.status(text)
            self._status.start()
        else:
            self._status.update(text)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_unused: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Say no more."""
        if self._status is not None:
            self._status.stop()
