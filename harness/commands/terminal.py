"""How commands speak: data on standard output, progress and complaints on standard error."""

from __future__ import annotations

from rich.console import Console
from rich.status import Status


class _Console(Console):
    """A console whose reader may go, as `head` does: that is no failure, see `harness.commands.ending`."""

    def on_broken_pipe(self) -> None:
        """Instead of the exit code 1 of rich."""
        raise BrokenPipeError


OUT = _Console(highlight=False, soft_wrap=True)
"""Data: verdicts, lists."""
ERR = _Console(stderr=True, highlight=False, soft_wrap=True)
"""Progress and complaints."""


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
            ERR.print(f"{text} ...", markup=False)
        elif self._status is None:
            self._status = ERR.status(text)
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
