"""What can go wrong, each with one clear message, a way out, and an exit code.

Whatever is raised here reaches the user as its message alone. Any other exception is a defect of the
harness: it is shown with its traceback and ends with `ExitCode.HARNESS`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import Self


class ExitCode(IntEnum):
    """Exit codes of the command line; if runs end differently, the most severe one counts."""

    meaning: str
    """In a few words."""

    AS_EXPECTED = 0, "every outcome as expected"
    NOT_AS_EXPECTED = 1, "an outcome was not as expected"
    USAGE = 2, "wrong usage or an invalid scenario"
    INCONCLUSIVE = 3, "inconclusive"
    ENVIRONMENT = 4, "environment not ready"
    HARNESS = 70, "an error of the harness"
    INTERRUPTED = 130, "interrupted"
    TERMINATED = 143, "terminated"

    def __new__(cls, code: int, meaning: str) -> Self:
        """A member, written as `NAME = code, "what it means"`."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    @classmethod
    def gravest(cls, codes: list[ExitCode]) -> ExitCode:
        """The code of several runs together: 70, 2, 4, 1, 3, 0 in this order; an interruption tops all."""
        order = [130, 143, 70, 2, 4, 1, 3, 0]
        return min(codes, key=lambda code: order.index(int(code)), default=cls.AS_EXPECTED)


_BEFORE_HINT = "\n  "
_HINT = re.compile(_BEFORE_HINT + r"(?=\S)")


class RocketchaosError(Exception):
    """An expected failure: `message` says what happened, `hint` what to do about it."""

    exit_code = ExitCode.HARNESS

    def __init__(self, message: str, hint: str = "", *, cause: str = "", about: tuple[str, ...] = ()) -> None:
        """
        Args:
            message: what happened.
            hint: the way out.
            cause: a stable word for the cause, independent of the message; reports count by it.
            about: the clients and servers whose logs say more.
        """
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.cause = cause
        self.about = about

    def __str__(self) -> str:
        return f"{self.message}{_BEFORE_HINT}{self.hint}" if self.hint else self.message


def message_and_hint(text: str) -> tuple[str, str]:
    """The parts of an error's text, as a history keeps them. Often there is no hint.

    Lines that a program printed are part of the message: they are indented further than a hint.
    """
    message, *hint = _HINT.split(text, maxsplit=1)
    return message, "".join(hint)


class UsageProblem(RocketchaosError):
    """The command, or a scenario, is invalid. Nothing was started."""

    exit_code = ExitCode.USAGE


class EnvironmentNotReady(RocketchaosError):
    """The machine, the network, Java or RocketMQ failed, not the scenario and not the harness."""

    exit_code = ExitCode.ENVIRONMENT


class NodeEnded(EnvironmentNotReady):
    """A server ended while it started; `reason` says how: `exit code 253`."""

    def __init__(self, message: str, hint: str, reason: str) -> None:
        super().__init__(message, hint)
        self.reason = reason


class RequestFailed(EnvironmentNotReady):
    """A request was refused, or not answered.

    `code` is RocketMQ's response code, where there is one; `exceptions` are the classes of what a client threw.
    """

    def __init__(
        self,
        message: str,
        code: int | None = None,
        exceptions: Sequence[str] = (),
        *,
        about: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, about=about)
        self.code = code
        self.exceptions = tuple(exceptions)

    @property
    def is_refusal(self) -> bool:
        """Whether RocketMQ has said no, its broker or its client: it was not the network that failed."""
        by_network = any(exception.startswith("Remoting") for exception in self.exceptions)
        return self.code is not None or (bool(self.exceptions) and not by_network)


class HarnessDefect(RocketchaosError):
    """The harness itself broke its own rules; please report it."""

    exit_code = ExitCode.HARNESS


class PreconditionNotMet(RocketchaosError):
    """The run can't answer its question: a condition was not reached, or a fault took no effect.

    The outcome is `inconclusive`.
    """

    exit_code = ExitCode.INCONCLUSIVE
