"""`<g>` in the text of a step: the real name of what the scenario calls g, and the way back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rocketchaos.harness.core.errors import PreconditionNotMet, RequestFailed
from rocketchaos.harness.language.topic import DEAD_LETTERS, RETRY
from rocketchaos.harness.rocketmq.stored_messages import decode

if TYPE_CHECKING:
    from rocketchaos.harness.clients.producer import Acknowledged
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

_PLACE = re.compile(r"<([%|A-Za-z0-9_.:-]+)>")
"""`<g>`: the real name of what the scenario calls g."""
_STORED = ".stored"
_MESSAGE = re.compile(rf"(.+)-([1-9]\d*)(\.offset|{re.escape(_STORED)})?")
"""`orders-1`: the first message that was sent to orders."""
_VIEW_MESSAGE_BY_ID = 33
_VIEW_LIMIT_MS = 5_000


def unknown_names(texts: Sequence[str], scenario: Scenario) -> Iterator[str]:
    """A sentence for each name in angle brackets that the scenario doesn't have."""
    nodes = scenario.cluster.nodes
    known = {*scenario.topics, *scenario.groups, *scenario.consumers, *scenario.senders, *nodes}
    for text in texts:
        for name in _PLACE.findall(text):
            if name not in known and not _is_message(name, scenario):
                yield f"<{name}>: the scenario has no topic, group, consumer, node or message of this name"
            elif name in scenario.groups and name in scenario.consumers:
                yield f"<{name}>: a consumer and a group are called so: give the consumer another name"


def scenarios_own(texts: Iterable[str], scenario: Scenario) -> Iterator[str]:
    """A sentence for each text that is the scenario's name of a topic or a group, which has another name there."""
    for text in dict.fromkeys(() if scenario.names_as_written else texts):
        for prefix in ("", RETRY, DEAD_LETTERS):
            name = text.removeprefix(prefix)
            if text == f"{prefix}{name}" and name in (scenario.groups if prefix else _shared(scenario)):
                yield (
                    f"RocketMQ knows no `{text}`, because the run adds to this name: write `{prefix}<{name}>`, or "
                    "`names: as-written` in the scenario"
                )


def _shared(scenario: Scenario) -> tuple[str, ...]:
    return (*scenario.topics, *scenario.groups)


def _is_message(name: str, scenario: Scenario) -> bool:
    found = _MESSAGE.fullmatch(name)
    return (
        found is not None
        and found[1] in scenario.topics
        and (int(found[2]) <= scenario.most_sent(found[1]) or scenario.sends_unseen)
    )


def with_real_names(texts: Sequence[str], context: StepContext, step: str) -> list[str]:
    """The texts as the servers need them.

    Args:
        texts: with names in angle brackets.
        context: of the run.
        step: the step's word, for messages.

    Raises:
        PreconditionNotMet: a message is named that no broker has acknowledged, or its broker doesn't tell
            when it stored it.
    """
    real = _real_names(context)
    named = {name for text in texts for name in _PLACE.findall(text)}
    for message in context.producer.acknowledged:
        if (name := f"{message.key}{_STORED}") in named:
            real[name] = str(_stored_ms(message, context, step))
    if lacking := sorted(named - set(real)):
        raise PreconditionNotMet(f"{step}: no broker has acknowledged {', '.join(lacking)}")
    return [_PLACE.sub(lambda found: real[found[1]], text) for text in texts]


def _stored_ms(message: Acknowledged, context: StepContext, step: str) -> int:
    """When its broker stored it, as that broker tells (VIEW_MESSAGE_BY_ID): milliseconds since 1970.

    Raises:
        PreconditionNotMet: the broker doesn't tell.
    """
    # An offsetMsgId is the broker's address, then the place in its commit log: 8 bytes.
    fields = {"offset": str(int(message.offset_msg_id[-16:], 16))}
    address = context.servers.node(message.broker).address
    try:
        answer = context.admin.raw(address, _VIEW_MESSAGE_BY_ID, fields, None, _VIEW_LIMIT_MS)
        (found,) = decode(answer.body)
    except (RequestFailed, ValueError) as error:
        raise PreconditionNotMet(
            f"{step}: {message.broker} doesn't tell when it stored {message.key}: {error}",
            about=(message.broker,),
        ) from error
    return found.stored_ms


def _real_names(context: StepContext) -> dict[str, str]:
    scenario = context.scenario
    sent = context.producer.acknowledged
    ids = {message.key: message.msg_id for message in sent}
    ids |= {f"{message.key}.offset": message.offset_msg_id for message in sent}
    named = {name: context.names.real(name) for name in (*scenario.topics, *scenario.groups)}
    named |= {name: context.names.real(item.group or name) for name, item in scenario.senders.items()}
    clients = {name: consumer.client_id for name, consumer in context.consumers.items()}
    nodes = {name: context.servers.remoting_address(name) for name in scenario.cluster.nodes}
    return {**nodes, **ids, **clients, **named}


def in_scenarios_names(text: str, context: StepContext) -> str:
    """An answer with the scenario's names: topics and groups end with `-<token>`, client ids with `@<token>`."""
    token = context.names.token
    return text.replace(f"-{token}", "").replace(f"@{token}", "")
