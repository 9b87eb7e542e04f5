"""A consumer that is a program of the user's own, as a scenario declares it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from rocketchaos.harness.language.words import DurationMs, OneOrList, Strict, TopicKey

NAMESERVER = "$nameserver"
"""The placeholder for the name server's address, `127.0.0.1:9876`, in what the program gets."""
PROXY = "$proxy"
"""The proxy's address for gRPC clients, `127.0.0.1:8081`. A scenario with it gets a cluster with a proxy."""
FILES = "$files"
"""The folder of the program's `files`."""
FILES_INSIDE = "/rocketchaos/files"
"""Where the container of an `image` has them."""
READY_WITHIN_MS = 120_000
LINE_GROUPS = ("key", "number", "topic", "tag", "queue", "offset", "status")
"""The named groups of `sees: {log: …}`: the data of a message that a line can have."""
_NAMES_A_MESSAGE = ("key", "number")
_EACH_KEY = r"(?P<key>\S+)"
"""KEYS has blanks between its keys (MessageConst.KEY_SEPARATOR)."""
_EACH_WORD = r"(?P<key>[^\s\[\]{}\"',;:]+)"
HOST = "$host"
"""In the address of `sees: {http: …}`: where the program listens."""
_PLACEHOLDER = re.compile(r"\$[a-z]+")


def _as_text(value: Any) -> Any:
    """YAML reads `8080` as a number and `true` as a boolean; programs take text."""
    return str(value).lower() if isinstance(value, bool | int | float) else value


def _a_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"`{text[:80]}` is no regular expression: {error}") from error
    return text


Places = Mapping[str, str]
"""What each placeholder stands for: addresses of a cluster, and the folder of a program's files."""
Text = Annotated[str, BeforeValidator(_as_text), WithJsonSchema({"type": ["string", "number", "boolean"]})]
Texts = Annotated[tuple[Text, ...], OneOrList()]
Pattern = Annotated[str, Field(min_length=1), AfterValidator(_a_pattern)]
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")]
"""A file in a folder of the program's own: no path."""


class Sees(Strict):
    """How it is seen what a program does: by the lines that it prints, by a topic into which it writes, by what
    it answers to an HTTP call, or by the message trace that its client writes.

    An entry proves that the message was handled; a missing one proves nothing.
    """

    log: Pattern | None = Field(
        default=None,
        description=r"a regular expression (Python's `re`) that finds, anywhere in a line, that a message was "
        r"handled: `'handled (?P<key>\S+)'`. The group `key` is a key of the message, `orders-17` or one of its "
        "`keys`; or the group `number` is its number in the topic. `topic`, `tag`, `queue`, `offset` and `status` "
        "may tell more: a `status` of RECONSUME_LATER says that it failed, and with a word that isn't RocketMQ's "
        "the line counts for no message",
    )
    topic: TopicKey | None = Field(
        default=None,
        description="a topic of `topics` into which it writes a message of its own for each message that it has "
        "handled: `{topic: handled}`. Each key of that (KEYS) is a key of the handled message, unless `keys` or "
        "`body` says more",
    )
    http: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s/]+(/\S*)?$",
        description="an address of the program that lists what it has handled: `http://$host:8080/handled`. The "
        'harness calls it (GET) every 500 ms. Each word of the answer is a key, as in `["orders-1", "orders-2"]`, '
        "unless `body` says more. `$host` stands for 127.0.0.1, or for the address of an `image`'s container",
    )
    trace: Literal[True] | None = Field(
        default=None,
        description="`true`: by RocketMQ's message trace, which its client must have switched on "
        "(enableMsgTrace); the brokers get the topic for it, RMQ_SYS_TRACE_TOPIC. A record proves that the "
        "listener was called, and how it returned",
    )
    keys: Pattern | None = Field(
        default=None,
        description=r"with `topic`: a regular expression that finds the handled message in the KEYS of what it "
        r"writes, with the groups of `log`: `'done-(?P<key>\S+)'`",
    )
    body: Pattern | None = Field(
        default=None,
        description="with `topic` or `http`: the same for the body of what it writes, or of its answer: "
        """`'"order": *"(?P<key>[^"]+)"'`""",
    )

    @model_validator(mode="after")
    def _names_a_message(self) -> Sees:
        if sum(item is not None for item in (self.log, self.topic, self.http, self.trace)) != 1:
            raise ValueError(
                r"say one of `log: 'handled (?P<key>\S+)'`, `topic: handled`, which it writes into, "
                "`http: http://$host:8080/handled`, which lists it, and `trace: true`, which its client writes"
            )
        if self.topic is None and self.keys:
            raise ValueError("`keys` are of what it writes into a `topic`")
        if (self.log is not None or self.trace) and self.body:
            raise ValueError("`body` is of what it writes into a `topic`, or answers (`http`)")
        if self.keys is not None and self.body is not None:
            raise ValueError("`keys` and `body` both say which message it is: leave one out")
        groups = re.compile(self.pattern).groupindex
        if not set(groups) & set(_NAMES_A_MESSAGE):
            raise ValueError(
                rf"`{self.where}: {self.pattern}` has no named group that says which message it is: write "
                r"`(?P<key>\S+)` where it has a key of the message, or `(?P<number>\d+)` where it has its number "
                "in the topic"
            )
        for name in groups:
            if name not in LINE_GROUPS:
                raise ValueError(
                    f"the group `{name}` of `{self.where}` says nothing to rocketchaos: it knows "
                    f"{', '.join(LINE_GROUPS)}"
                )
        return self

    @property
    def pattern(self) -> str:
        """What finds a handled message, in a line, or in the body or the keys of an entry of the topic."""
        return self.log or self.body or self.keys or (_EACH_KEY if self.http is None else _EACH_WORD)

    @property
    def where(self) -> str:
        """The key of this that has the pattern."""
        return "log" if self.log is not None else "keys" if self.topic and not self.body else "body"

    @property
    def way(self) -> Literal["lines", "topic", "http", "trace"]:
        """The source that shows its messages, as in `Api.seen_by`."""
        if self.trace:
            return "trace"
        return "lines" if self.log is not None else "topic" if self.topic is not None else "http"

    @property
    def by_number(self) -> bool:
        """Whether a message's number must identify it without a topic."""
        groups = re.compile(self.pattern).groupindex
        return "number" in groups and "key" not in groups and "topic" not in groups


class Ready(Strict):
    """More conditions that must hold before a program counts as started."""

    members: int | None = Field(
        default=None, gt=0, description="its group has at least this many members on each broker"
    )
    port: int | None = Field(
        default=None,
        gt=0,
        le=65_535,
        description="it takes connections to this port of this host, an `image` to this port of its container",
    )
    log: Pattern | None = Field(
        default=None, description="it has printed a line that this regular expression finds"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Ready:
        if self.members is None and self.port is None and self.log is None:
            raise ValueError("say `members`, `port` or `log`")
        return self


class App(Strict):
    """Your own program, started unchanged, as `jar`, `main`, `command` or `image`.

    A `jar`, or the class `main`, runs in a JVM of its own. The harness registers RocketMQ's own
    `ConsumeMessageHook` with the consumers that it starts, so what they get and what their listeners answer comes
    from the program itself.

    A `command` is any program. It is seen by the lines that it prints (`sees`), by the brokers' list of its group
    (203), and, if its client answers, by its running info (307).

    An `image` runs as a container on the network of the servers, and is seen as a `command` is. It needs a cluster
    in containers: `--on containers`.

    `$nameserver` stands for the name server's address in `args`, `command`, `jvm_args`, `properties`, `env` and
    `files`, `$proxy` for the address at which the proxy of RocketMQ 5 serves gRPC clients, and `$files` for the
    folder of the files. Topics and groups have the names that the scenario gives them, on a cluster of the run's
    own.
    """

    jar: str | None = Field(
        default=None,
        min_length=1,
        description="what `java -jar` starts: a plain jar with a Main-Class, or Spring Boot's; a relative "
        "path is looked up from the scenario's file, then from the current folder",
    )
    main: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_$][\w$.]*$",
        description="what `java -cp` starts: the name of a class with a main method, `com.acme.Billing`, in the "
        "`classpath`",
    )
    classpath: Texts = Field(
        default=(),
        description="with `main`: folders of classes, jars, and `*` for all jars of a folder: "
        "`[target/classes, target/lib/*]`, `[build/install/billing/lib/*]`; relative paths as with `jar`",
    )
    command: Texts | None = Field(
        default=None,
        min_length=1,
        description="any program and its arguments: `[python3, audit.py, $nameserver]`. It runs in the folder of "
        "the scenario's file. A first word with a `/` is seen from there, then from the current folder; others "
        "are "
        "looked up on the PATH",
    )
    image: str | None = Field(
        default=None,
        min_length=1,
        pattern=r"^\S+$",
        description="a container image that the engine has or can pull: `registry.example.org/shop:1.4`. It runs "
        "with its own entrypoint and user; each start makes a new container",
    )
    args: Texts = Field(
        default=(),
        description="of a `jar` or `main`, its arguments: `[--rocketmq.name-server=$nameserver]`; of an `image`, "
        "what its entrypoint gets in place of the image's CMD",
    )
    jvm_args: Texts = Field(default=(), description="of a `jar` or `main`, options of its JVM: `[-Xmx512m]`")
    properties: dict[str, Text] = Field(
        default_factory=dict,
        description="of a `jar` or `main`, system properties: `{rocketmq.namesrv.addr: $nameserver}`",
    )
    env: dict[str, Text] = Field(
        default_factory=dict,
        description="environment variables, in addition to those of the harness, or those of the `image`",
    )
    sees: Sees | None = Field(
        default=None,
        description=r"of a `command` or an `image`, how it is seen that it has handled a message: by the lines "
        r"that it prints, `{log: 'handled (?P<key>\S+)'}`, by what it writes into a topic, `{topic: handled}`, "
        "by what it lists, `{http: http://$host:8080/handled}`, or by its client's message trace, "
        "`{trace: true}`. Without it, only its group's members and offsets are known",
    )
    files: dict[FileName, str] = Field(
        default_factory=dict,
        description="configuration files that are written for it, each from a template, in which the placeholders "
        "stand too: `{application.yaml: config/test.yaml}`; the program finds them in the folder `$files`, "
        "also in the container of an `image`",
    )
    ready: Ready | None = Field(
        default=None,
        description="more conditions than membership of its group: `{members: 2}`, `{port: 8080}`, "
        "`{log: 'Started .* in'}`",
    )
    ready_within: DurationMs = Field(
        default=READY_WITHIN_MS,
        gt=0,
        description="the limit until it has started a consumer of the group",
    )

    @model_validator(mode="after")
    def _one_program(self) -> App:
        for problem in self._problems():
            raise ValueError(problem)
        return self

    def _problems(self) -> Iterator[str]:
        if sum(item is not None for item in (self.jar, self.main, self.command, self.image)) != 1:
            yield (
                "say which program: one of `jar: target/billing.jar`, `main: com.acme.Billing` with its "
                "`classpath`, `command: [./audit, $nameserver]` and `image: registry.example.org/shop:1.4`; the "
                "arguments of an `image` are its `args`"
            )
        elif (self.main is None) != (not self.classpath):
            yield "`main` and `classpath` need each other: a class, and where it is"
        elif not self.has_hook:
            yield from self._not_of_a_jar()
        elif self.sees is not None:
            yield (
                f"a `{'jar' if self.main is None else 'main'}` is seen by RocketMQ's own hook in it: leave out "
                "`sees`; or write `command: [java, …]`, where its client has no such hook"
            )
        yield from self._misspelled()

    def _not_of_a_jar(self) -> Iterator[str]:
        keys, instead = (
            (("jvm_args", "properties"), "`args` or `env`")
            if self.command is None
            else (("args", "jvm_args", "properties"), "`command`")
        )
        of_jars = [name for name in keys if getattr(self, name)]
        if of_jars:
            yield f"`{'`, `'.join(of_jars)}` is for a `jar` or `main`: write it into {instead}"

    def _misspelled(self) -> Iterator[str]:
        """Placeholders of ours that stand for nothing. Programs may use `$` for other purposes."""
        known = (NAMESERVER, PROXY, FILES)
        for text in self._texts():
            for word in _PLACEHOLDER.findall(text):
                near = get_close_matches(word, known, 1, 0.7) if word not in known else []
                if near:
                    yield f"`{word}` stands for nothing: did you mean `{near[0]}`?"
                elif word == FILES and not self.files:
                    yield f"`{FILES}` is the folder of its `files`, and it has none: `files: {{NAME: TEMPLATE}}`"

    def _texts(self) -> Iterator[str]:
        yield from (*(self.command or ()), *self.args, *self.jvm_args)
        yield from (*self.properties.values(), *self.env.values())

    @property
    def has_hook(self) -> bool:
        """Whether it runs in a JVM that the harness starts, in which RocketMQ's own hook shows what it gets."""
        return self.jar is not None or self.main is not None

    @property
    def needs_proxy(self) -> bool:
        """Whether it gets the proxy's address, and so speaks to it."""
        return any(PROXY in text for text in self._texts())

    def placed(self, places: Places) -> App:
        """The same with what the placeholders stand for."""

        def values(given: Mapping[str, str]) -> dict[str, str]:
            return {key: fill(value, places) for key, value in given.items()}

        return self.model_copy(
            update={
                "command": None
                if self.command is None
                else tuple(fill(text, places) for text in self.command),
                "args": tuple(fill(text, places) for text in self.args),
                "jvm_args": tuple(fill(text, places) for text in self.jvm_args),
                "properties": values(self.properties),
                "env": values(self.env),
            }
        )


def fill(text: str, places: Places) -> str:
    """A text with what its placeholders stand for."""
    for placeholder, place in places.items():
        text = text.replace(placeholder, place)
    return text
