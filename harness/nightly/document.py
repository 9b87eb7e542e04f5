"""A scenario as plain data, and as the text that one would write by hand."""

import json
import textwrap
from collections.abc import Iterator
from typing import Any

import yaml

from rocketchaos.harness.scenario.load import read_yaml

Document = dict[str, Any]
"""The data of a scenario file, by its keys, in YAML's own types."""

MARK = "nightly"
"""The mark of scenarios that a night has drawn. Shrunk ones keep it."""
WHAT_RUNS = (
    "timing", "rocketmq", "workers", "names", "cluster", "topics", "groups", "consumers", "producer", "producers",
    "steps",
)  # fmt: skip
"""The keys that decide what runs. All others describe it, or state something about it."""

_BLOCKS = ("topics", "consumers")
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""libyaml's is ten times as fast; a PyYAML without libyaml lacks it."""
_WIDTH = 100
"""The characters of a line. Longer texts continue in the next one."""
_LISTS = ("steps", "anomaly", "healthy", "also", "tendency")


def document_of(text: str, file: str) -> Document:
    """The data of a scenario's text.

    Raises:
        InvalidScenario: it is no YAML, or no mapping.
    """
    return dict(read_yaml(text, file)[0].data)


def text_of(document: Document) -> str:
    """The text: one line for each topic, consumer, step and check, and steps inside others below them."""
    return "".join(f"{line}\n" for line in _lines(document))


def _lines(document: Document) -> Iterator[str]:
    for key, value in document.items():
        if key in (*_BLOCKS, *_LISTS) and not value:
            continue  # a scenario of bare groups has no consumers
        if key in _BLOCKS:
            yield f"{key}:"
            yield from (f"  {_flow(name)}: {_flow(fields)}" for name, fields in value.items())
        elif key in _LISTS:
            yield f"{key}:"
            for entry in value if isinstance(value, list) else [value]:
                yield from (f"  {line}" for line in _entry(entry))
        elif isinstance(value, str) and len(value) > _WIDTH:
            yield f"{key}: >-"
            yield from textwrap.wrap(
                value, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False,
                break_on_hyphens=False,
            )  # fmt: skip
        else:
            yield f"{key}: {_flow(value)}"


def _entry(entry: dict[str, Any]) -> Iterator[str]:
    """The lines of one step or check, as an entry of a list."""
    ((word, said),) = entry.items()
    if word == "parallel":
        yield f"- {word}:"
        for branch in said:
            lines = [line for step in branch for line in _entry(step)]
            yield f"    - {lines[0]}"
            yield from (f"      {line}" for line in lines[1:])
    elif word == "repeat":
        yield f"- {word}:"
        yield f"    times: {said['times']}"
        yield "    steps:"
        yield from (f"      {line}" for step in said["steps"] for line in _entry(step))
    else:
        yield f"- {word}: {_flow(said)}"


def _flow(value: Any) -> str:
    """The value on one line."""
    text: str = yaml.dump(
        [value], Dumper=_DUMPER, default_flow_style=True, allow_unicode=True, sort_keys=False, width=2**31 - 1
    )
    plain = text.strip()[1:-1]
    if isinstance(value, str) and "''" in plain:
        return json.dumps(value, ensure_ascii=False)  # an apostrophe need not be doubled there
    return plain
