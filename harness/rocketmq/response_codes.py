"""How RocketMQ's brokers answer, in words: ResponseCode and RemotingSysResponseCode of 4.9.4 and 5.3.3."""

import difflib
from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

CODES: Mapping[str, int] = {
    "FOUND": 0,
    "SYSTEM_ERROR": 1,
    "SYSTEM_BUSY": 2,
    "REQUEST_CODE_NOT_SUPPORTED": 3,
    "NO_PERMISSION": 16,
    "TOPIC_NOT_EXIST": 17,
    "PULL_NOT_FOUND": 19,
    "PULL_RETRY_IMMEDIATELY": 20,
    "PULL_OFFSET_MOVED": 21,
    "QUERY_NOT_FOUND": 22,
    "SUBSCRIPTION_PARSE_FAILED": 23,
    "SUBSCRIPTION_NOT_EXIST": 24,
    "SUBSCRIPTION_NOT_LATEST": 25,
    "SUBSCRIPTION_GROUP_NOT_EXIST": 26,
    "FILTER_DATA_NOT_EXIST": 27,
    "FILTER_DATA_NOT_LATEST": 28,
    "INVALID_PARAMETER": 29,
    "CONSUMER_NOT_ONLINE": 206,
    "FLOW_CONTROL": 215,
}
"""Those that a pull may get, by name. `FOUND` is SUCCESS, whose remark is FOUND where a pull got it."""

NAME_SERVER_NOT_READY = "name server not ready"
"""With code 1: what a name server with `needWaitForService` answers to 105, for `waitSecondsForService`."""

_ALSO = {"SUCCESS": 0}
"""RocketMQ's own name of the code, which has another one here."""
_NAMES = {code: name for name, code in CODES.items()}


def in_words(code: int) -> str:
    """`17 TOPIC_NOT_EXIST`, or the number alone."""
    return "0 SUCCESS" if code == 0 else pull_in_words(code)


def pull_in_words(code: int) -> str:
    """The same of the answer to a pull: `0 FOUND`, `21 PULL_OFFSET_MOVED`."""
    return f"{code} {_NAMES[code]}" if code in _NAMES else str(code)


def _number_of(value: object) -> object:
    if isinstance(value, str):
        if value in _ALSO:
            return _ALSO[value]
        if value not in CODES:
            near = difflib.get_close_matches(value.upper(), CODES, n=1)
            advice = f"did you mean `{near[0]}`?" if near else "a number says any code: 14"
            raise ValueError(f"there is no response code `{value[:60]}`; {advice}")
        return CODES[value]
    return value


ResponseCode = Annotated[
    int,
    BeforeValidator(_number_of),
    WithJsonSchema({"anyOf": [{"enum": [*CODES, *_ALSO]}, {"type": "integer"}]}),
]
"""In a scenario its name or its number, in Python the number."""
