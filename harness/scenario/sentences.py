"""Pydantic's errors in plain sentences."""

import re
from collections.abc import Callable, Collection, Mapping

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from rocketchaos.harness.core.model import MessageClass
from rocketchaos.harness.core.nearest import clipped, contained, listed, nearest
from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.language.client_words import PROGRAM_EXAMPLES
from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.language.expectation import meant_by
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.rocketmq.version_range import how_to_write
from rocketchaos.harness.scenario.place_models import SECTIONS, allowed_keys, field_at, model_at, one_of
from rocketchaos.harness.scenario.yaml_places import Document, Path

Sentence = tuple[str, str | None]
"""A message, and the nearest allowed word."""


def kind_of(document: Document, path: Path) -> str:
    """A value of the file, in a sentence."""
    value = document.value(path)
    if isinstance(value, bool):
        return f"`{document.source_of(path)}`"
    if isinstance(value, int | float):
        return f"the number {document.source_of(path)}"
    if isinstance(value, str):
        return f"the text `{clipped(value)}`" if value else "an empty text"
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    return "a list" if isinstance(value, list) else "nothing"


def sentence(error: ErrorDetails, document: Document, path: Path) -> Sentence:
    """The mistake at `path`, the error's place in the file."""
    make = _SENTENCES.get(error["type"])
    if make is None:
        return f"{_name(path)}: {error['msg'][:1].lower()}{error['msg'][1:]}", None
    return make(error, document, path)


_SAME: Mapping[str, str] = {
    "sleep": "wait",
    "produce": "send",
    "publish": "send",
    "shutdown": "stop",
    "crash": "kill",
    "sigkill": "kill",
    "sigterm": "terminate",
    "request": "ask",
    "admin": "mqadmin",
    "create-topic": "topic-config",
    "update-topic": "topic-config",
    "create-group": "group-config",
    "update-group": "group-config",
    "consumed": "delivered",
    "received": "delivered",
    "duplicate": "duplicated",
    "dlq": "dead-letter",
    "lag": "offsets",
    "retried": "retry",
}
"""Words that people know from elsewhere, and the scenario's own: no similar letters lead from one to the other."""
_SAME_KEYS: Mapping[str, tuple[str, ...]] = {
    "group": ("to", "of"),
    "consumer": ("to", "of"),
    "to": ("group", "consumer", "of"),
    "of": ("to", "group", "consumer"),
}
"""Keys by which words say whom they are about: each has one of them."""


def _meant_step(word: str, known: Collection[str]) -> str | None:
    """The word of the same meaning, or the only one that begins with this: `suspend-consumer` for `suspend`."""
    plain = word.lower().replace("_", "-")
    if _SAME.get(plain) in known:
        return _SAME[plain]
    longer = [text for text in known if text.startswith(f"{plain}-")]
    return longer[0] if len(longer) == 1 else None


def unknown_word(word: str, section: str) -> Sentence:
    """The entry of a section begins with a word that doesn't exist."""
    known, what = SECTIONS[section], one_of(section)
    elsewhere = next((name for name, words in SECTIONS.items() if word in words and words is not known), None)
    if elsewhere is not None:
        return f"`{word}` is a {one_of(elsewhere)}, not a {what}: it goes under `{elsewhere}`", None
    if "undelivered" in known and word in {fate.value for fate in MessageClass}:
        return f"`{word}` is a reason, not a {what}: write `undelivered: {{because: {word}, count: …}}`", None
    near = _meant_step(word, known) or nearest(word, known)
    known_by = "" if near is not None else f": `rocketchaos explain` lists the {what}s"
    return f"there is no {what} `{clipped(word)}`{known_by}", near


def _name(path: Path) -> str:
    """The key at the end of a path; for an entry of a list, the list's key."""
    names = [part for part in path if isinstance(part, str)]
    return f"`{clipped(names[-1])}`" if names else "the scenario"


def _missing(error: ErrorDetails, _document: Document, path: Path) -> Sentence:
    key = str(error["loc"][-1])
    field = field_at((*path, key))
    description = field.description if field is not None and field.description else ""
    meaning = f": {description.partition('; ')[0]}" if description else ""
    whose = "" if not path else f" of {_name(path)}"
    return f"`{key}`{whose} is missing{meaning}", None


def _unknown_key(_error: ErrorDetails, document: Document, path: Path) -> Sentence:
    key = str(path[-1])
    model = model_at(path[:-1])
    allowed = allowed_keys(model) if model is not None else ()
    near = nearest(key, allowed) or next((same for same in _SAME_KEYS.get(key, ()) if same in allowed), None)
    whose = f" of {_name(path[:-1])}" if len(path) > 1 else ""
    programs = () if "app" not in allowed else allowed_keys(App)
    if key in programs and key not in (*PROGRAM_EXAMPLES, "main") and "app" not in document.value(path[:-1]):
        return f"`{key}` is a key of `app`, a program of your own: the harness's clients have none", None
    if key in programs:
        return f"`{key}` is a key of `app`: write it there, `app: {{{key}: …}}`", None
    if (
        near is None
        and "app" in document.value(path[:-1])
        and (of_program := nearest(key, programs)) is not None
    ):
        return f"unknown key `{clipped(key)}`: `app` has a key `{of_program}`", None
    if near is not None and near not in document.value(path[:-1]):
        return f"unknown key `{clipped(key)}`", near
    return (
        f"unknown key `{clipped(key)}`: the keys{whose} are {listed(allowed)}{_all_of(model, allowed)}",
        None,
    )


def _all_of(model: type[BaseModel] | None, allowed: Collection[str]) -> str:
    """Where a reader finds the keys that a sentence leaves out."""
    word = "consumer" if model is Consumer else getattr(model, "word", None)
    return (
        f"; all: `rocketchaos explain {word}`"
        if word and listed(allowed) != listed(allowed, len(allowed))
        else ""
    )


def _entry(_error: ErrorDetails, document: Document, path: Path) -> Sentence:
    """An entry of a section that isn't a mapping of one key."""
    section = str(path[0])
    what, example = one_of(section), next(iter(SECTIONS[section]))
    value = document.value(path)
    if isinstance(value, dict) and len(value) > 1:
        words = [word for word in value if word in SECTIONS[section]]
        if words and value[words[0]] is None:
            return f"indent the lines that belong to `{words[0]}` more than `{words[0]}` itself", None
        return f"a {what} has one key, here are {len(value)}: {listed(value)}: begin each with `- `", None
    if isinstance(value, str) and re.match(r"\w+:\S", value):
        return f"write a space after the `:`, `{value.replace(':', ': ', 1)}`", None
    return f"a {what} is one word with its keys, `{example}: …`, not {kind_of(document, path)}", None


def _no_such_word(error: ErrorDetails, _document: Document, path: Path) -> Sentence:
    return unknown_word(str(error["ctx"]["tag"]), str(path[0]))


def _needs_mapping(_error: ErrorDetails, document: Document, path: Path) -> Sentence:
    model = model_at(path)
    keys = f" with {listed(allowed_keys(model))}" if model is not None and model.model_fields else ""
    if not keys:
        keys = ", `name: …`" if len(path) == 1 else ", `key: value`"
    return f"{_name(path)} needs a mapping{keys}, not {kind_of(document, path)}", None


def _needs(what: str) -> Callable[[ErrorDetails, Document, Path], Sentence]:
    def make(_error: ErrorDetails, document: Document, path: Path) -> Sentence:
        value = document.value(path)
        advice = ""
        if what == "text" and isinstance(value, int | float):
            advice = f': put it in quotes, `"{clipped(document.source_of(path))}"`'
        elif what == "a whole number" and isinstance(value, str) and re.fullmatch(r"[0-9]+", value):
            advice = ": leave out the quotes"
        return f"{_name(path)} needs {what}, not {kind_of(document, path)}{advice}", None

    return make


def _choice(error: ErrorDetails, document: Document, path: Path) -> Sentence:
    return choice(document, path, re.findall(r"'([^']*)'", error["ctx"]["expected"]))


def choice(document: Document, path: Path, allowed: list[str]) -> Sentence:
    """A value that is none of those allowed."""
    value = document.value(path)
    near = (nearest(value, allowed) or contained(value, allowed)) if isinstance(value, str) else None
    return f"{_name(path)} is one of {listed(allowed)}, not {kind_of(document, path)}", near


_PATTERNS: Mapping[str, str] = {
    r"^[A-Za-z][A-Za-z0-9_-]{0,59}$": "letters, digits, `_` and `-`, a letter first, at most 60",
    r"^[%|A-Za-z0-9_.:-]{1,112}$": "letters, digits, `_`, `-`, `%`, `|`, `.` and `:`, at most 112",
    r"^[A-Za-z][A-Za-z0-9_@-]{0,59}$": "letters, digits, `_`, `-` and `@`, a letter first, at most 60",
    r"^[a-z0-9][a-z0-9-]{0,79}$": "small letters, digits and `-`, at most 80",
    r"^[a-z][a-z0-9-]*$": "small letters, digits and `-`, a letter first",
    r"^\$[a-z][a-z0-9-]*$": "`$` and a variable's name, as `$holder`",
    r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$": "text with at least one visible character",
    r"\S": "text with at least one visible character",
    r"^[^\x00-\x1f\x7f]{1,127}$": "1 to 127 characters, none of them a control character",
    r"^[A-Z]\d{2}$": "a letter and two digits, as `B01`",
    r"^[A-Za-z][A-Za-z0-9_.]*$": "letters, digits, `_` and `.`, a letter first",
}


def _pattern(error: ErrorDetails, _document: Document, path: Path) -> Sentence:
    pattern = str(error["ctx"]["pattern"])
    what = _PATTERNS.get(pattern, f"text that matches `{pattern}`")
    text = error["input"]
    owner = "a name" if error["loc"][-1] == "[key]" else _name(path)
    return f"{owner} is made of {what}, not `{clipped(text)}`", None


def _limit(words: str, key: str) -> Callable[[ErrorDetails, Document, Path], Sentence]:
    def make(error: ErrorDetails, document: Document, path: Path) -> Sentence:
        limit = error["ctx"][key]
        if isinstance(document.value(path), str):  # a duration, of which pydantic sees the milliseconds
            limit = f"{limit / 1000:g}s"
        return f"{_name(path)} must be {words} {limit}, not {document.source_of(path)}", None

    return make


def _too_few(error: ErrorDetails, document: Document, path: Path) -> Sentence:
    number = error["ctx"]["min_length"]
    needed = f"at least {number} entr{'y' if number == 1 else 'ies'}"
    name = "this list" if path and isinstance(path[-1], int) else _name(path)
    if document.value(path):
        return f"{name} needs {needed}", None
    return f"{name} is empty: it needs {needed}", None


def _too_many(error: ErrorDetails, _document: Document, path: Path) -> Sentence:
    name = "this list" if path and isinstance(path[-1], int) else _name(path)
    return f"{name} takes at most {error['ctx']['max_length']} entries", None


def _empty_text(_error: ErrorDetails, _document: Document, path: Path) -> Sentence:
    return f"{_name(path)} is empty", None


def _rule(error: ErrorDetails, document: Document, path: Path) -> Sentence:
    """A word's own rule: its sentence as it is, or the allowed values if the field lists them."""
    field = field_at(path)
    extra = field.json_schema_extra if field is not None else None
    allowed = extra.get("enum") if isinstance(extra, dict) else None
    if isinstance(allowed, list):
        return choice(document, path, [str(item) for item in allowed])
    return f"{_name(path)}: {error['ctx']['error']}", None


def _duration(error: ErrorDetails, _document: Document, _path: Path) -> Sentence:
    return error["msg"], None


def _expected_key(error: ErrorDetails, _document: Document, _path: Path) -> Sentence:
    key = str(error["ctx"]["text"])
    if way := how_to_write(key):
        return f"`{clipped(key)}` is no range of versions: {way}", None
    near = meant_by(key, lambda part: nearest(part, CLIENT_KINDS))
    known = f"{listed(CLIENT_KINDS)}, `java+python` where they share a group, or `>=5.0`"
    return f"`{clipped(key)}` is no client and no range of versions: write one of {known}", near


_SENTENCES: Mapping[str, Callable[[ErrorDetails, Document, Path], Sentence]] = {
    "missing": _missing,
    "extra_forbidden": _unknown_key,
    "union_tag_not_found": _entry,
    "union_tag_invalid": _no_such_word,
    "model_type": _needs_mapping,
    "dict_type": _needs_mapping,
    "int_type": _needs("a whole number"),
    "string_type": _needs("text"),
    "float_type": _needs("a number"),
    "bool_type": _needs("`true` or `false`"),
    "list_type": _needs("a list"),
    "one_of_several_types": _needs("text, a whole number, `true` or `false`"),
    "literal_error": _choice,
    "string_pattern_mismatch": _pattern,
    "string_too_short": _empty_text,
    "greater_than": _limit("more than", "gt"),
    "greater_than_equal": _limit("at least", "ge"),
    "less_than": _limit("less than", "lt"),
    "less_than_equal": _limit("at most", "le"),
    "too_short": _too_few,
    "too_long": _too_many,
    "value_error": _rule,
    "duration": _duration,
    "expected_key": _expected_key,
}
