"""What each word of the language means, one entry a word; from the same models as the reference."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pydantic import BaseModel

from rocketchaos.assertions import CHECKS
from rocketchaos.harness.claims.expected_verdicts import measured_text
from rocketchaos.harness.claims.registry import Claim, claims
from rocketchaos.harness.claims.statement import said
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.diagnose.checks import CHECKS as DIAGNOSES
from rocketchaos.harness.diagnose.finding import Check as Diagnosed
from rocketchaos.harness.language.words import Word
from rocketchaos.harness.plan.matrix import EXAMPLE
from rocketchaos.harness.reference.describe import OWN_KEY, Key, documentation, keys_of, models_inside
from rocketchaos.harness.reference.language import ANSWERS, PARTS, TIMING, settings
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS, ClientKind
from rocketchaos.harness.rocketmq.timing_profiles import PROFILES
from rocketchaos.harness.steps import STEPS

_MATRIX = """\
Runs every scenario with every client on every version of RocketMQ. It skips impossible cells and versions that are
not available, and names them. If you asked for such a version, the exit code is at least 2 (there is no such
release) or 4 (the network fails).

`clients` are the clients of the consumers that name none, `rocketmq` the versions of the brokers. A dimension that
you leave out keeps its default. A table at the end shows how each cell ends, and where cells differ."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One meaning of one word."""

    name: str
    """`send`, `send.per_queue`, `filtered-by-client`, `70`, `B01`."""
    kind: str
    """`step`, `check`, `key of send`, `outcome`, …"""
    text: str
    example: str = ""
    keys: tuple[Key, ...] = ()
    of_a_key: bool = False
    """Whether it is one of the values that a key may have: no word by itself."""


@cache
def entries() -> tuple[Entry, ...]:
    """Every word, in the order of the reference; a name can be repeated."""
    found: list[Entry] = []
    for name, (model, _) in PARTS.items():
        found += _of_mapping(name, "part of a scenario", model)
    for words, kind in ((STEPS, "step"), (CHECKS, "check")):
        for word, word_model in words.items():
            found += _of_mapping(word, kind, word_model)
    for kind, (answers, _) in ANSWERS.items():
        found += [Entry(answer.value, kind, answer.meaning) for answer in answers]
    found += [
        Entry(name, "timing profile", f"{TIMING}.\n\nThis one: {settings(profile)}.")
        for name, profile in PROFILES.items()
    ]
    found += [
        Entry(f"expected.{name}" if kind.users_program else name, "client", _of_client(kind))
        for name, kind in CLIENT_KINDS.items()
    ]
    found.append(Entry("matrix", "option of `run`, `reproduce` and pytest", _MATRIX, f"--matrix {EXAMPLE}"))
    found += [
        Entry(str(int(code)), "exit code", f"The command ends with it: {code.meaning}.") for code in ExitCode
    ]
    found += [Entry(name, "claim", _of_claim(name, claim)) for name, claim in claims().items()]
    found += [Entry(code, "finding of `diagnose`", _of_finding(check)) for code, check in DIAGNOSES.items()]
    return tuple(found)


def meanings(word: str) -> list[Entry]:
    """The entries of a word; of a key without its mapping, `per_queue`, those of all mappings that have it."""
    known = entries()
    return [entry for entry in known if entry.name == word] or [
        entry for entry in known if entry.name.rpartition(".")[2] == word and "." in entry.name
    ]


def _of_client(kind: ClientKind) -> str:
    version = f", version {kind.version}" if kind.version else ", of the brokers' version, or `java@4.9.4`"
    if kind.older:
        version += ", or " + ", ".join(f"`{kind.name}@{item}`" for item in kind.older)
    ways = "; ".join(
        ("Inside is " if kind.users_program else f"`api: {api.name}` is ")
        + f"{api.implementation}, filtered by the "
        + ("subscription that the broker holds" if api.filters_by == "stored" else "member's own expression")
        for api in kind.apis.values()
    )
    proxy = " It speaks to a proxy, and so needs RocketMQ 5." if kind.needs_proxy else ""
    if kind.users_program:
        used = f"`app: {{{kind.program}: …}}`"
        return f"{used} is called `{kind.name}` in `expected`, `where` and reports.\n\n{ways}."
    return f"What `client` may be: {kind.title}{version}.{proxy}\n\n{ways}."


def _of_finding(check: Diagnosed) -> str:
    changes = "\n\n".join(f"{number}. {text}" for number, text in enumerate(check.change, 1))
    rests = f"Claims that explain it: {', '.join(check.claims)}." if check.claims else ""
    return "\n\n".join(
        filter(
            None,
            (
                f"{check.title[0].upper()}{check.title[1:]}; {check.level}.",
                f"Effect on messages: {check.effect}",
                f"What to change, in this order:\n\n{changes}",
                rests,
            ),
        )
    )


def _of_claim(name: str, claim: Claim) -> str:
    measured = measured_text(name)
    really = f"What really happens: {claim.really}" if claim.really else ""
    why_not = f"Nothing public can observe it: {claim.unobservable}" if claim.unobservable else ""
    return "\n\n".join(filter(None, (claim.claim, said(claim), measured, really, why_not)))


def _of_mapping(name: str, kind: str, model: type[BaseModel]) -> Iterator[Entry]:
    """A mapping, then each of its keys, those of the mappings within them included."""
    text, example = documentation(model), ""
    if issubclass(model, Word):
        example = model.example.strip()
        if model.shorthand is not None:
            text += f"\n\nShort: `{name}: …` is `{name}: {{{model.shorthand}: …}}`."
    parts = [part for part, _ in PARTS.values()]
    inside = {place: inner for inner, place in models_inside(model).items() if inner not in parts}
    keys = keys_of(model) + (keys_of(inside[OWN_KEY]) if OWN_KEY in inside else [])
    yield Entry(name, kind, text, example, tuple(keys))
    for key in keys:
        yield Entry(f"{name}.{key.name}", f"key of `{name}`", f"{key.meaning}\n\nIts value: {key.value}.")
        for choice in key.choices:
            more = f"`rocketchaos explain {name}` says more."
            yield Entry(choice, f"a value of `{name}.{key.name}`", f"{key.meaning}\n\n{more}", of_a_key=True)
        if key.name in inside:
            yield from _of_mapping(f"{name}.{key.name}", "the mapping there", inside[key.name])
