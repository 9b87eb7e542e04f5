"""The language reference, `scenarios/LANGUAGE.md`, made from the models that read the scenarios.

To update it after a change: `python -m rocketchaos.harness.reference.language > scenarios/LANGUAGE.md`.
"""

import sys
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from rocketchaos.assertions import CHECKS
from rocketchaos.assertions.base import Check
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import DescribedEnum, Holds, Judgement, MessageClass, OutcomeKind
from rocketchaos.harness.language.topic import Group
from rocketchaos.harness.language.words import Word
from rocketchaos.harness.reference.describe import documentation, keys_of, models_inside
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.rocketmq.timing_profiles import PROFILES, TimingProfile
from rocketchaos.harness.rocketmq.versions import PROXY_PLAIN_SINCE
from rocketchaos.harness.scenario.model import ClusterNeeds, Consumer, Scenario, Topic
from rocketchaos.harness.steps import STEPS

_OPENING = """\
# The scenario language

Made from the models that read scenarios by `python -m rocketchaos.harness.reference.language`: don't edit it.
`rocketchaos explain WORD` shows any part of it.

A file is one scenario: one YAML mapping with the keys below. rocketchaos refuses a wrong file before anything
starts, and names every mistake with its line.

- Plain words are text, also those that YAML 1.1 reads as something else (`no`, `on`, `1:30`, dates).
- `*` and text with `: ` in it need quotes.
- There are no tags, anchors, aliases or repeated keys, and no key without a value.
- A duration is a number with its unit: `500ms`, `40s`, `1.5m`, `1h`.
- A list with one entry can be written without the brackets.
"""

PARTS: Mapping[str, tuple[type[BaseModel], str]] = {
    "scenario": (Scenario, "A scenario"),
    "topic": (Topic, "A topic"),
    "group": (Group, "A group"),
    "consumer": (Consumer, "A consumer"),
    "cluster": (ClusterNeeds, "The cluster"),
}
"""The parts of a scenario other than its words: the model and the heading of each."""

ANSWERS: Mapping[str, tuple[type[DescribedEnum], str]] = {
    "outcome": (OutcomeKind, "Outcomes"),
    "how an outcome is judged": (Judgement, "How an outcome is judged"),
    "what became of a message": (MessageClass, "What became of a message"),
    "what a check says": (Holds, "What a check says"),
}
"""The words with which a run answers: by their kind all of them, and their heading."""


TIMING = str(Scenario.model_fields["timing"].description).replace("`faithful`", "The profile `faithful`", 1)
"""The timing profiles, in one sentence without its point."""


def settings(profile: TimingProfile) -> str:
    """What a timing profile sets, and where."""
    places = (
        ("brokers", profile.broker),
        ("system properties of Java clients", profile.client_system_properties),
        ("consumers", profile.client_settings),
        *((f"those with `api: {api}`", own) for api, own in profile.api_settings.items()),
    )

    def since(key: str) -> str:
        wanted = profile.settings_since.get(key)
        return f" (clients {wanted})" if wanted else ""

    lines = [
        f"{place}: {', '.join(f'`{key}={value}`{since(key)}' for key, value in own.items())}"
        for place, own in places
        if own
    ]
    return "; ".join(lines) or "sets nothing"


_CLIENTS = """\
The differences between the clients, from `harness/rocketmq/kinds/`; `java` exists in every version. `filtered
by`: the subscription that the broker holds for the group (`stored`), or the expression that comes with every
pull or receive (`own`). `queues`: each has an owner among the members (`owned`), or every member is served
from all (`shared`). `raises`: whether a change of its queues raises its subVersion, so that its subscription
wins. `timers`: whether the profile `compressed` shortens them.
"""


_COUNTS = "Those with `count`, `at_least` and `at_most` take exactly one of the three.\n"


def clients() -> str:
    """The kinds of clients and their ways of consuming, as a table in Markdown."""
    rows = [
        "| client | api | what it is | filtered by | queues | raises | timers | brokers |",
        "|" + "---|" * 8,
    ]
    for kind in CLIENT_KINDS.values():
        for api in kind.apis.values():
            implementation = f"{kind.title}: {api.implementation}"
            version = "" if kind.version is None else f" {', '.join((kind.version, *kind.older))}"
            brokers = api.brokers or (PROXY_PLAIN_SINCE if kind.needs_proxy else "all")
            cells = (
                f"`{kind.name}`",
                f"`{api.name}`",
                implementation + version,
                api.filters_by,
                api.queues,
                "yes" if api.raises_version else "no",
                "can be set" if kind.compressed else "its own",
                brokers,
            )
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*rows, ""])


def language_reference() -> str:
    """The whole reference, in Markdown."""
    described = {model for model, _ in PARTS.values()}
    parts = [_OPENING]
    for model, heading in PARTS.values():
        parts += [f"## {heading}\n", documentation(model) + "\n", table(model), *_inside(model, described)]
    parts.append("## Steps\n")
    parts += [part for word in STEPS.values() for part in _word(word, None, described)]
    parts += ["## Checks\n", "Each of them also takes:\n", table(Check), _COUNTS]
    parts += [part for word in CHECKS.values() for part in _word(word, Check, described)]
    for answers, heading in ANSWERS.values():
        rows = [f"| `{answer.value}` | {answer.meaning} |" for answer in answers]
        parts += [f"## {heading}\n", documentation(answers) + "\n", *_rows("word", rows)]
    parts += ["## Clients\n", _CLIENTS, clients()]
    rows = [f"| `{name}` | {settings(profile)} |" for name, profile in PROFILES.items()]
    parts += ["## Timing profiles\n", f"{TIMING}.\n", *_rows("profile", rows)]
    rows = [f"| {int(code)} | {code.meaning} |" for code in ExitCode]
    parts += ["## Exit codes\n", documentation(ExitCode) + "\n", *_rows("code", rows)]
    return "\n".join(part for part in parts if part)


def _word(word: type[Word], without: type[Word] | None, described: set[type[BaseModel]]) -> Iterator[str]:
    yield f"### `{word.word}`\n"
    yield documentation(word) + "\n"
    yield f"```yaml\n{word.example.strip()}\n```\n"
    if word.shorthand is not None:
        yield f"Short: `{word.word}: …` is `{word.word}: {{{word.shorthand}: …}}`.\n"
    yield table(word, without)
    yield from _inside(word, described)


def _inside(model: type[BaseModel], described: set[type[BaseModel]]) -> Iterator[str]:
    """The mappings within its keys, each described where it comes first."""
    for inner, key in models_inside(model).items():
        if inner not in described:
            described.add(inner)
            yield f"In `{key}`: {documentation(inner)}\n"
            yield table(inner)
            yield from _inside(inner, described)


def table(model: type[BaseModel], without: type[BaseModel] | None = None) -> str:
    """The keys of a mapping as a table in Markdown; empty if there are none."""
    rows = [
        "| `{}` | {} | {} |".format(
            *(text.replace("|", "\\|") for text in (key.name, key.value, key.meaning))
        )
        for key in keys_of(model, without)
    ]
    return "\n".join(["| key | value | meaning |", "|---|---|---|", *rows, ""]) if rows else ""


def _rows(head: str, rows: list[str]) -> list[str]:
    return ["\n".join([f"| {head} | meaning |", "|---|---|", *rows, ""])]


if __name__ == "__main__":
    sys.stdout.write(language_reference())
