"""Raw requests of RocketMQ's remoting protocol.

Rests on org.apache.rocketmq.remoting.protocol.RemotingCommand and RemotingClient.invokeSync (4.9.3 to 5.5.0).
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jpype


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: its code as in ResponseCode, and what came with it."""

    code: int
    remark: str | None
    fields: Mapping[str, str]
    body: bytes


def ask(
    api: Any, address: str, code: int, fields: Mapping[str, str], body: str | None, timeout_ms: int
) -> Answer:
    """Send one request over the connection that `api` (MQClientAPIImpl) has, or makes, to `address`.

    Raises:
        jpype.JException: no connection, or no answer within `timeout_ms` (RemotingException).
    """
    request = jpype.JClass("org.apache.rocketmq.remoting.protocol.RemotingCommand").createRequestCommand(
        jpype.JInt(code), None
    )
    ext_fields = jpype.JClass("java.util.HashMap")()
    for name, value in fields.items():
        ext_fields.put(name, value)
    request.setExtFields(ext_fields)
    if body is not None:
        request.setBody(body.encode())
    response = api.getRemotingClient().invokeSync(address, request, jpype.JLong(timeout_ms))
    answered = response.getExtFields()
    remark, content = response.getRemark(), response.getBody()
    return Answer(
        code=int(response.getCode()),
        remark=None if remark is None else str(remark),
        fields={}
        if answered is None
        else {str(entry.getKey()): str(entry.getValue()) for entry in answered.entrySet()},
        body=b"" if content is None else bytes(content),
    )


def printable(body: bytes) -> dict[str, str | None]:
    """A body as JSON can carry it: text where it is UTF-8, otherwise base64."""
    try:
        return {"body": body.decode() or None, "body_base64": None}
    except UnicodeDecodeError:
        return {"body": None, "body_base64": base64.b64encode(body).decode("ascii")}
