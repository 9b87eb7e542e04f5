"""What every word of the scenario language shares: strict frozen models, references, durations.

A word (a step or a check) is one pydantic model in a file of its own. Its schema, its documentation (the
class docstring and the fields' descriptions) and its meaning stand there and nowhere else; the registries in
`harness.steps` and `assertions` list the words.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError, core_schema

from rocketchaos.harness.core.nearest import clipped

_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) *(ms|s|m|h)")
_LONG_DURATION = re.compile(r"[0-9]+(?:\.[0-9]+)? *(?:ms|s|m|h)")
_TAG = re.compile(r"(?!\*$)[^\s|,]+")
BLANKS = "".join(map(chr, range(33)))
"""What Java's String.trim() takes away."""
_UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_DURATION_SCHEMA = {
    "type": "string",
    "pattern": f"^{_DURATION.pattern}$",
    "description": "a number with a unit, `ms`, `s`, `m` or `h`: `40s`, `500ms`",
}


def parse_duration_ms(value: object) -> int:
    """Milliseconds of `40s`, `500ms`, `1.5m`, `1h`.

    Raises:
        PydanticCustomError: there is no unit, it isn't a duration, or it has too many digits.
    """
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        if isinstance(value, str) and _LONG_DURATION.fullmatch(value):
            raise PydanticCustomError(
                "duration",
                "a duration has at most 9 digits, and at most 6 after its point: write `40s` or `1.5h`",
            )
        number = value if type(value) is int and value >= 0 else None
        advice = "write `40s` or `500ms`" if number is None else f"write `{number}s` or `{number}ms`"
        message = "a duration needs a number and a unit: {advice}"
        raise PydanticCustomError("duration", message, {"advice": advice})
    return round(float(found[1]) * _UNIT_MS[found[2]])


Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$")]
"""A name that RocketMQ takes as (a part of) a topic, group or client id."""

TopicKey = Annotated[
    str, StringConstraints(min_length=1, max_length=1000), AfterValidator(lambda text: _named("topic", text))
]
"""A topic's name: any that differs from a variable, because what RocketMQ refuses is seen when it is used."""
CREATABLE_TOPIC = re.compile(r"[%|A-Za-z0-9_-]{1,127}")
"""The names of topics that RocketMQ creates (`Validators`, `TopicValidator`)."""

GroupKey = Annotated[
    str, StringConstraints(min_length=1, max_length=1000), AfterValidator(lambda text: _named("group", text))
]
"""A group's name: any that differs from a variable, because what RocketMQ refuses is seen at its start."""

Namespace = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,100}$")]
"""A client's namespace: any text, also one that makes RocketMQ refuse what it is put before."""

LEGAL_GROUP = re.compile(r"[%|A-Za-z0-9_-]{1,255}")
"""What RocketMQ takes as a group's name."""

ClientId = Annotated[
    str, StringConstraints(min_length=1, max_length=255), AfterValidator(lambda text: _on_one_line(text))
]
"""A client id, or its first part: RocketMQ takes any text."""

Through = Literal["brokers", "proxy"]
"""Whom a client that speaks remoting takes for its servers."""

DurationMs = Annotated[int, BeforeValidator(parse_duration_ms), WithJsonSchema(_DURATION_SCHEMA)]
"""In a scenario a duration with its unit, in Python milliseconds."""


def _whole_seconds(duration_ms: int) -> int:
    if duration_ms % 1000:
        raise ValueError(f"takes whole seconds, such as `{duration_ms // 1000 + 1}s`")
    return duration_ms


WholeSecondsMs = Annotated[DurationMs, AfterValidator(_whole_seconds)]
"""The same, of whole seconds."""


def _named(what: str, text: str) -> str:
    if not text.isprintable() or of_a_variable(text):
        raise ValueError(f"a {what}'s name has no control characters, and doesn't begin with `$`")
    return text


def _on_one_line(text: str) -> str:
    if not text.isprintable() or text.startswith("@"):
        raise ValueError("a client id is an address, or `address@instance`, without control characters")
    return text


@dataclass(frozen=True, slots=True)
class Refers:
    """Marks a field whose text refers to another part of the scenario, to find undefined names.

    `kinds` are of `topic`, `group`, `consumer`, `moment` (an observation), `variable` (`$holder`, bound
    before), `tag-of-variable` (`$holder.tag`; any other text is a literal tag), `node` (of the cluster),
    `broker` (a node that is one), `account` (of the cluster), `producer` (any of the run's), `hand-made` (a
    client that heartbeats make), `pull` (a raw one), `asked` (any other raw request) and `client-pull` (one by a
    consumer's own client).
    """

    kinds: tuple[str, ...]


TopicName = Annotated[str, Refers(("topic",))]
GroupName = Annotated[str, Refers(("group",))]
ConsumerRef = Annotated[str, Refers(("consumer", "variable"))]
"""A consumer, or a variable that stands for one or several: `a`, `$holder`, `$others`."""
ConsumerName = Annotated[str, Refers(("consumer",))]
VariableName = Annotated[str, Refers(("variable",)), StringConstraints(pattern=r"^\$[a-z][a-z0-9-]*$")]
"""A bound variable itself: `$holder`."""
MomentName = Annotated[str, Refers(("moment",))]
Target = Annotated[str, Refers(("consumer", "group", "variable"))]
"""Consumers: one by its name, a whole group by the group's name, or a variable."""
ActorRef = Annotated[str, Refers(("consumer", "variable", "node"))]
"""A consumer, a variable, or a node of the cluster: `a`, `$holder`, `broker-a`, `nameserver`."""
ProcessRef = Annotated[str, Refers(("consumer", "variable", "node", "producer"))]
"""An actor with a process that a step can act on: an `ActorRef`, or `producer`."""
SideRef = Annotated[str, Refers(("consumer", "group", "variable", "node", "producer"))]
"""Whoever has a place on the network: what an `ActorRef` names, all members of a group, or `producer`."""
ProducerRef = Annotated[str, Refers(("producer",))]
"""A producer: `producer`, or a further one by its name."""
NodeRef = Annotated[str, Refers(("node",))]
"""A node of the cluster: `nameserver`, `broker-a`, `broker-a-slave`."""
AccountRef = Annotated[str, Refers(("account",))]
"""An account of `cluster: {accounts: …}`."""
BrokerRef = Annotated[str, Refers(("broker",))]
"""A broker, be it master or slave: `broker-a`, `broker-a-slave`."""
TagRef = Annotated[str, Refers(("tag-of-variable",))]
"""A tag, `tagB`, or the tags to which a bound consumer subscribes, `$holder.tag`: a step takes the first of them,
a check accepts any."""
ExpressionRef = Annotated[str, Refers(("tag-of-variable",))]
"""A subscription expression, unchanged, or a bound consumer's own, `$holder.tag`."""
TagExpression = Annotated[str, StringConstraints(max_length=100_000)]
"""`tagA`, `tagA || tagB`, or `*` for everything; or any text, which RocketMQ gets unchanged."""


class Strict(BaseModel):
    """Frozen, with no unknown keys and no silent conversion of types."""

    # Built when it is first used: a scenario uses few words, and those that belong to others are built with them.
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, populate_by_name=True, defer_build=True
    )


class Word(Strict):
    """One word of the language. `shorthand` names the field that a bare value stands for (`start: a`).

    `example` is the word in use, as YAML, for the documentation; a test reads it as part of a scenario.
    """

    word: ClassVar[str]
    example: ClassVar[str]
    shorthand: ClassVar[str | None] = None

    @model_validator(mode="before")
    @classmethod
    def _expand_shorthand(cls, value: Any) -> Any:
        if cls.shorthand is not None and not isinstance(value, Mapping):
            return {cls.shorthand: value}
        return value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core_schema)
        if cls.shorthand is None:
            return schema
        bare = handler.resolve_ref_schema(schema)["properties"][cls.shorthand]
        return {"anyOf": [bare, schema]}


def as_tuple(value: Any) -> Any:
    """A list, or a single value in place of a list of one."""
    if isinstance(value, list | tuple):
        return tuple(value)
    return (value,)


@dataclass(frozen=True, slots=True)
class OneOrList:
    """Marks a list in whose place its only entry may stand: for the reader, and in the JSON schema."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(as_tuple, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        array = handler(schema)
        return {"anyOf": [array["items"], array]}


def of_a_variable(tag: str) -> bool:
    """Whether it stands for a variable's tag, `$holder.tag`; a placeholder, `${demo.tag}`, is text."""
    return tag.startswith("$") and not tag.startswith("${")


def tag_doubt(tag: str) -> str | None:
    """Why a message's tag is probably a slip, as RocketMQ takes any text as one tag; None: it is fine."""
    if tag == "" or _TAG.fullmatch(tag) or of_a_variable(tag):
        return None if tag else "an empty tag is none: leave `tag` out"
    return f"to RocketMQ `{clipped(tag)}` is one tag of this name"


def expression_doubt(expression: str) -> str | None:
    """What RocketMQ makes of a tag expression that looks like something else; None: it is what it looks like.

    `FilterAPI.buildSubscriptionData`, 4.9.4 and 5.5.0.
    """
    tags = [part.strip(BLANKS) for part in expression.split("||")]
    if expression == "":
        return "an empty expression is everything, as `*`"
    if not expression.strip("|") and len(expression) % 2 == 0:
        return f"RocketMQ refuses `{clipped(expression)}` (subString split error)"
    if not any(tags):
        return f"`{clipped(expression)}` names no tag: RocketMQ takes it, and brokers hand out nothing"
    odd = next((tag for tag in tags if tag and not _TAG.fullmatch(tag)), None)
    if expression == "*" or odd is None:
        return None
    advice = "write `tagA || tagB` for several, `*` for everything"
    return f"to RocketMQ `{clipped(odd)}` is one tag of this name: {advice}"


_T = TypeVar("_T")
OneOrMore = Annotated[
    tuple[_T, ...],
    BeforeValidator(as_tuple),
    Field(min_length=1),
    WithJsonSchema(
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
    ),
]
"""One text, or a list of them."""

ConsumerRefs = OneOrMore[ConsumerRef]
ActorRefs = OneOrMore[ActorRef]
ProcessRefs = OneOrMore[ProcessRef]
SideRefs = OneOrMore[SideRef]


def holder_of(word: str, model: type[Word], what: str) -> type[BaseModel]:
    """The model of a mapping with this word as its only key; `what` is what such a word is called."""
    return create_model(f"{what}: {word}", __base__=Strict, **{word: (model, ...)})  # type: ignore[call-overload, no-any-return]


@dataclass(frozen=True, slots=True)
class OneWordOf:
    """Lets pydantic read a mapping with exactly one key, a word of `registry`, as that word's model.

    Not a union of all words: pydantic would load and build each of them for every scenario.
    """

    registry: Mapping[str, type[Word]]
    what: str
    _holders: dict[str, type[BaseModel]] = field(default_factory=dict)

    def read(self, value: Any) -> Word:
        """The word, validated.

        Raises:
            PydanticKnownError: the value is no mapping with one key, or the key no word.
            ValidationError: what is behind the word doesn't fit it.
        """
        if not (isinstance(value, Mapping) and len(value) == 1):
            raise PydanticKnownError("union_tag_not_found", {"discriminator": self.what})
        word = str(next(iter(value)))
        if word not in self.registry:
            known = ", ".join(map(repr, self.registry))
            raise PydanticKnownError(
                "union_tag_invalid", {"discriminator": self.what, "tag": word, "expected_tags": known}
            )
        if word not in self._holders:
            self._holders[word] = holder_of(word, self.registry[word], self.what)
        # Only what is documented: `set`, not the name of the attribute that holds it.
        found: Word = getattr(self._holders[word].model_validate(value, by_alias=True, by_name=False), word)
        return found

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(
        self, _core_schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Refers to the holder of each word, which `harness.reference.schema` adds."""
        return {"oneOf": [{"$ref": f"#/$defs/{self.what}__{word}"} for word in self.registry]}


def one_word_of(registry: Mapping[str, type[Word]], what: str) -> Any:
    """The type of a mapping with exactly one key, a word of `registry`; it validates to that word's model."""
    return Annotated[Any, OneWordOf(registry, what)]


@dataclass(frozen=True, slots=True)
class Reference:
    """One use of a name: where in the model it stands, what it may refer to, and the text."""

    path: tuple[str | int, ...]
    kinds: tuple[str, ...]
    text: str


def references(model: BaseModel, path: tuple[str | int, ...] = ()) -> Iterator[Reference]:
    """Every name that `model` uses, found by the `Refers` marks of its fields, nested models included."""
    for key, extra in (model.__pydantic_extra__ or {}).items():
        if isinstance(extra, BaseModel):
            yield from references(extra, (*path, key))
    for name, key, kinds in _named_fields(type(model)):
        value = getattr(model, name)
        place = (*path, key)
        if kinds and isinstance(value, str):
            yield Reference(place, kinds, value)
        elif kinds and isinstance(value, tuple):
            for index, item in enumerate(value):
                yield Reference((*place, index), kinds, item)
        elif isinstance(value, BaseModel):
            yield from references(value, place)
        elif isinstance(value, Mapping):
            for key, item in value.items():
                if isinstance(item, BaseModel):
                    yield from references(item, (*place, key))


@functools.cache
def _named_fields(model: type[BaseModel]) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """The fields of a model: attribute, key, and what the names in it refer to; nothing where it has none."""
    found = []
    for name, described in model.model_fields.items():
        marks = [mark for mark in described.metadata if isinstance(mark, Refers)]
        marks = marks or _marks_inside(described.annotation)
        found.append((name, described.alias or name, marks[0].kinds if marks else ()))
    return tuple(found)


def _marks_inside(annotation: Any) -> list[Refers]:
    """`Refers` marks within `X | None`, `tuple[X, ...]` and similar types."""
    found = [mark for mark in getattr(annotation, "__metadata__", ()) if isinstance(mark, Refers)]
    for inner in getattr(annotation, "__args__", ()):
        found += _marks_inside(inner)
    return found
