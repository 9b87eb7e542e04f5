"""The symptom that a scenario is about, in the words in which it comes to a support desk. Pure."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema

from rocketchaos.harness.language.words import OneOrMore, Strict

ISSUE = r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+#[1-9][0-9]*"
"""A thread of a tracker: `apache/rocketmq#2760`."""

_ADDRESS = re.compile(r"https?://github\.com/([^/]+/[^/]+)/(?:issues|pull|discussions)/([1-9][0-9]*)\b.*")
"""A thread's address in a browser."""


def _a_thread(value: Any) -> Any:
    """What names a thread, `apache/rocketmq#2760`.

    Raises:
        ValueError: it is something else; the message says how it is written.
    """
    if isinstance(value, str) and re.fullmatch(ISSUE, value):
        return value
    found = _ADDRESS.fullmatch(value) if isinstance(value, str) else None
    way = f"{found[1]}#{found[2]}" if found else "apache/rocketmq#2760"
    raise ValueError(f"a thread is its repository and its number: write `{way}`")


Issue = Annotated[str, BeforeValidator(_a_thread), StringConstraints(pattern=rf"^{ISSUE}$")]
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


Seen = Literal["gone", "stuck", "twice", "late", "disordered", "unwanted", "refused", "misleading-tool"]
SEEN: Mapping[str, str] = MappingProxyType(
    {
        "gone": "messages that no listener ever gets, though nothing waits any more",
        "stuck": "messages that wait, and nobody consumes them",
        "twice": "messages that come again, or that were to be skipped",
        "late": "messages that come later than they should",
        "disordered": "messages of one key or one queue that come, or are handled, in another order",
        "unwanted": "messages that come to a consumer which doesn't want them",
        "refused": "an exception or a response code where a client wanted something",
        "misleading-tool": "a tool, a dashboard or a log that shows something false",
    }
)
"""By what a symptom is seen, in the order in which they are listed."""


_ONE_SEEN = {"enum": list(SEEN), "type": "string"}
_OneOrMoreSeen = Annotated[
    OneOrMore[Seen],
    WithJsonSchema({"anyOf": [_ONE_SEEN, {"type": "array", "items": _ONE_SEEN, "minItems": 1}]}),
]


class Symptom(Strict):
    """What people report, its cause, and the way out; `rocketchaos symptoms` lists and finds it."""

    seen: _OneOrMoreSeen = Field(
        description="how it shows, the most visible first: `gone`, `stuck`, `twice`, `late`, "
        "`disordered`, `unwanted`, `refused`, `misleading-tool`"
    )
    reported: _Text = Field(description="what the reporter saw")
    texts: OneOrMore[_Text] = Field(
        description="what people paste: log lines, exceptions, response codes, words of a dashboard; `…` "
        "stands for one of their names",
    )
    cause: _Text = Field(description="what really happens")
    remedy: _Text = Field(description="the way out")
    not_reproduced: _Text | None = Field(
        default=None,
        description="no version shows it: what was tried. `expected` must not be `reproduced` then",
    )

    @property
    def lines(self) -> list[str]:
        """What is reported, why it is so, and the way out: a line each."""
        parts = {"Reported": self.reported, "Cause": self.cause, "Way out": self.remedy}
        return [f"{label}: {' '.join(text.split())}" for label, text in parts.items()]
