"""`<orders-1>` in an expression: the id of this message, as servers and tools write it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.messages import SendAccepted

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario

_MESSAGE = re.compile(r"<((?P<topic>[^<>]+)-(?P<number>[1-9]\d*)(?P<part>\.offset|\.stored)?)>")
"""`<orders-1>`: the msgId of the first message that was sent to orders; `<orders-1.offset>`: its offsetMsgId."""
_STORED = ".stored"


def with_ids(expressions: Sequence[str], view: RunView) -> Mapping[str, str] | str:
    """Each expression as one in which messages have their ids; or a sentence that says why not."""
    known = _ids(view)
    named = {found[1] for found in _of(expressions, view.scenario)}
    if lacking := sorted(named - set(known)):
        return f"no broker has told the id of {', '.join(lacking)}"
    return {text: _MESSAGE.sub(lambda found: _written(found, known), text) for text in expressions}


def doubtful(expressions: Sequence[str], scenario: Scenario) -> Iterator[str]:
    """A sentence for each message in an expression that has no id there."""
    for found in _of(expressions, scenario):
        if found["part"] == _STORED:
            yield f"{found[0]} is the time of a message in steps alone: here only its id can stand"
        elif int(found["number"]) > scenario.most_sent(found["topic"]) and not scenario.sends_unseen:
            yield f"{found[0]}: the scenario sends no message of this name, so the answer stays unknown"


def _of(expressions: Sequence[str], scenario: Scenario) -> Iterator[re.Match[str]]:
    for text in expressions:
        yield from (found for found in _MESSAGE.finditer(text) if found["topic"] in scenario.topics)


def _written(found: re.Match[str], known: Mapping[str, str]) -> str:
    return re.escape(known[found[1]]) if found[1] in known else found[0]


def _ids(view: RunView) -> Mapping[str, str]:
    accepted = {event.body.key: event.body.msg_id for event in view.of_kind(SendAccepted)}
    bodies = [message.event.body for message in view.sent]
    ids = accepted | {body.key: body.msg_id for body in bodies if body.msg_id is not None}
    ids |= {f"{body.key}.offset": body.offset_msg_id for body in bodies}
    return {name: value for name, value in ids.items() if value is not None}
