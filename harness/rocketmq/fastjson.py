"""RocketMQ's JSON, as fastjson writes it: not all of it is JSON."""

import json
import re
from typing import Any

_STRING = r'"(?:[^"\\]|\\.)*"'
_NOT_JSON = re.compile(
    rf'(?P<object>\{{(?:[^{{}}"]|{_STRING})*\}})\s*:|{_STRING}|(?P<before>[{{,]\s*)(?P<number>-?\d+)\s*:',
    re.DOTALL,
)
"""An object as a key, a string (which is left alone, whatever is in it), or a number as a key."""


def loads(body: bytes) -> Any:
    """RocketMQ's JSON: fastjson leaves integer keys of maps without quotes, and writes objects as keys.

    An object as a key, such as a MessageQueue, becomes its own JSON as text.

    Raises:
        ValueError: it is no JSON even so.
    """
    try:
        text = body.decode()
        try:
            return json.loads(text)
        except ValueError:
            return json.loads(_NOT_JSON.sub(_quoted, text))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _quoted(found: re.Match[str]) -> str:
    if found["object"] is not None:
        return f"{json.dumps(found['object'])}:"
    return found[0] if found["number"] is None else f'{found["before"]}"{found["number"]}":'
