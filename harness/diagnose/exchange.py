"""One question and its answer, literally: the material of evidence and bundles."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from rocketchaos.harness.diagnose.requests import request_text
from rocketchaos.harness.rocketmq.fastjson import loads

Keep = Callable[[bytes], bytes]
"""The parts of an answer's body that are kept: secrets, message bodies and other groups' entries are never
recorded."""


def fields_text(fields: Mapping[str, str]) -> str:
    """`{consumerGroup: g}`; empty without fields."""
    return "{" + ", ".join(f"{key}: {value}" for key, value in fields.items()) + "}" if fields else ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Asked once, and answered or not."""

    look: int
    """In which look, from 0 on."""
    address: str
    """`host:port`, as name servers and brokers give it."""
    code: int
    fields: Mapping[str, str]
    at_ms: int
    """When it was asked, by this machine's clock: milliseconds since 1970."""
    took_ms: float = 0.0
    answer_code: int | None = None
    """ResponseCode; None: there was no answer, and `error` says why."""
    remark: str = ""
    answer_fields: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    error: str = ""

    @property
    def succeeded(self) -> bool:
        """It was answered with what was asked for."""
        return self.answer_code == 0

    @property
    def document(self) -> Any:
        """The body as RocketMQ's JSON; an empty mapping where there is none, or it can't be read."""
        try:
            return loads(self.body.encode()) if self.body else {}
        except ValueError:
            return {}

    @property
    def question(self) -> str:
        """`203 GET_CONSUMER_CONNECTION_LIST {consumerGroup: g} at 10.0.0.1:10911`."""
        fields = fields_text(self.fields)
        return f"{request_text(self.code)}{f' {fields}' if fields else ''} at {self.address}"

    @property
    def why_not(self) -> str:
        """Why it is unknown: the error, or the code and remark of the answer. Empty if it is known."""
        if self.succeeded:
            return ""
        if self.answer_code is None:
            return self.error
        remark = self.remark.splitlines()[0][:160] if self.remark else "no remark"
        return f"answer {self.answer_code}: {remark}"


class Asker(Protocol):
    """A live cluster behind the gate, or a record of one."""

    async def ask(
        self, look: int, address: str, code: int, fields: Mapping[str, str], keep: Keep | None = None
    ) -> Exchange:
        """Ask once; whatever goes wrong is in the exchange."""
        ...
