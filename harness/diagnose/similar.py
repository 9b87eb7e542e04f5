"""Topics whose names are like one that has no route: a subscription may have it mistyped."""

import asyncio
import difflib
import json
from collections.abc import Awaitable, Callable, Sequence

from rocketchaos.harness.diagnose import read, requests
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.model import DEAD_LETTERS, RETRY, Look
from rocketchaos.harness.rocketmq.fastjson import loads

_Ask = Callable[..., Awaitable[Exchange]]

_ALIKE = 0.8
"""Share of letters that must be the same, from 0 to 1: of many topics some are a little like any other."""
_LONGEST = 255
"""Letters of a topic's name (TopicValidator.TOPIC_MAX_LENGTH is 127)."""


async def add_similar(look: Look, ask: _Ask) -> None:
    """Ask the name servers for the names of all topics, if some topic has no route; keep the similar ones.

    Args:
        look: has the routes, and gets the answers.
        ask: asks an address.
    """
    missing = [
        topic
        for topic, routes in look.routes.items()
        if not topic.startswith((RETRY, DEAD_LETTERS))
        and not any(item.brokers or item.unknown for item in routes.values())
    ]
    if not missing:
        return
    answers = await asyncio.gather(
        *(
            ask(
                look,
                address,
                requests.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
                keep=lambda body: kept(body, missing),
            )
            for address in look.registered
        )
    )
    for answer in answers:
        for pair in read.mapping(answer.document).get("similar", ()):
            known = read.mapping(pair)
            if isinstance(known.get("missing"), str) and isinstance(known.get("topic"), str):
                look.similar.setdefault(known["missing"], {})[known["topic"]] = answer


def kept(body: bytes, missing: Sequence[str]) -> bytes:
    """Of the answer to 206: for each missing topic the name that is most like it."""
    try:
        names = read.mapping(loads(body)).get("topicList")
    except ValueError:
        return b""
    known = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
    known = {name for name in known if not name.startswith(("%", "SCHEDULE_TOPIC_", "RMQ_SYS_"))}
    pairs = [
        {"missing": topic, "topic": found}
        for topic in missing
        if (found := _most_like(topic, sorted(known - {topic}))) is not None
    ]
    return json.dumps({"similar": pairs}, ensure_ascii=False).encode()


def _most_like(name: str, known: Sequence[str]) -> str | None:
    if len(name) > _LONGEST:
        return None
    by_letters = {_letters(item): item for item in known}
    found = difflib.get_close_matches(_letters(name), by_letters, n=1, cutoff=_ALIKE)
    return by_letters[found[0]] if found else None


def _letters(name: str) -> str:
    """Without what is easily mistaken: capitals, blanks around it, and signs between words."""
    return name.strip().lower().translate({ord(sign): "-" for sign in "_. "})
