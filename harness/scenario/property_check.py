"""Whether settings by RocketMQ's own names are such names, and of their types; each mistake with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocketchaos.harness.core.nearest import clipped, listed, nearest
from rocketchaos.harness.rocketmq.properties import (
    CONSUMERS,
    OF_THE_RUN,
    PRODUCER,
    SAID_BY,
    Properties,
    Value,
)
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.places import Document, Path
from rocketchaos.harness.scenario.sentences import kind_of


def check_properties(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    """What is wrong with the settings of a scenario's consumers and its producer."""
    for name, consumer in scenario.consumers.items():
        known = CONSUMERS.get(consumer.api)
        if known is not None:
            path = ("consumers", name, "settings")
            yield from _wrong(document, path, consumer.settings, known, consumer.traits.implementation)
    yield from _wrong(
        document, ("producer", "settings"), scenario.producer.settings, PRODUCER, "DefaultMQProducer"
    )


def _wrong(
    document: Document, path: Path, given: Mapping[str, Value], known: Properties, whose: str
) -> Iterator[Diagnostic]:
    for name, value in given.items():
        place = (*path, name)
        if name in SAID_BY:
            yield document.report(place, f"a scenario says `{name}` by `{SAID_BY[name]}`", key=True)
        elif name in OF_THE_RUN:
            yield document.report(
                place, f"`{name}` is what the harness itself sets, for each run anew", key=True
            )
        elif name not in known:
            near = nearest(name, known)
            others = "" if near else f": it has {listed(sorted(known), most=100)}"
            message = f"{whose} has no property `{clipped(name)}`{others}"
            yield document.report(place, message, near, key=True)
        elif not known[name].takes(value):
            message = f"`{name}` needs {known[name].needs}, not {kind_of(document, place)}"
            yield document.report(place, message)
