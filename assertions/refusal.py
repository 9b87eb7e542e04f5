"""The common part of all checks of refusals: RocketMQ's own class, code and text."""

from collections.abc import Sequence

from pydantic import Field

from rocketchaos.assertions.base import Check


class Refused(Check):
    """A check of what RocketMQ said where it refused something."""

    because: str | None = Field(default=None, min_length=1, description="a part of the broker's remark")
    code: int | None = Field(default=None, description="RocketMQ's response code: 1, 14, 26")
    exception: str | None = Field(
        default=None,
        min_length=1,
        description="the class of what the client threw, or of its cause: `MQClientException`",
    )

    def fits_refusal(self, error: str, code: int | None, exceptions: Sequence[str]) -> bool:
        """Whether that is what is stated."""
        return (
            (self.because is None or self.because in error)
            and self.code in (None, code)
            and (self.exception is None or self.exception in exceptions)
        )

    @property
    def stated(self) -> str:
        """`refused with MQClientException, code 1, 'text'`."""
        parts = [
            *([self.exception] if self.exception is not None else []),
            *([f"code {self.code}"] if self.code is not None else []),
            *([repr(self.because)] if self.because is not None else []),
        ]
        return "refused" + (f" with {', '.join(parts)}" if parts else "")


def refusal_text(error: str, code: int | None) -> str:
    """What was said, with its code."""
    return error if code is None else f"{error} (code {code})"
