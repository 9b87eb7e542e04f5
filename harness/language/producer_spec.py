"""The producer as a scenario declares it."""

from __future__ import annotations

from pydantic import Field, model_validator

from rocketchaos.harness.language.account import ACCOUNT, AccessKey
from rocketchaos.harness.language.client_words import JVM_ARGS, ClientText, JvmArgs
from rocketchaos.harness.language.name_servers import NameServerNames
from rocketchaos.harness.language.namespace import outside
from rocketchaos.harness.language.words import ClientId, GroupKey, Name, Namespace, Strict, Through
from rocketchaos.harness.rocketmq.client_kinds import USUAL_CLIENT, ClientChoice, client_choice
from rocketchaos.harness.rocketmq.properties import Value

PRODUCER = "producer"
"""Its name in steps and histories."""


class Producer(Strict):
    """A producer, which sends what `send` steps say. It starts before the first step."""

    client: ClientText = Field(
        default=USUAL_CLIENT,
        description="which client: `java`, `java@4.9.4` in its own version, `python` over the C++ client, `grpc` "
        "and `grpc-java`, the Python and the Java client of 5.x that speak gRPC, `go`, `go@2.1.1`; "
        "a matrix doesn't change it",
    )

    group: GroupKey | None = Field(
        default=None,
        description="its producer group, which others may share; default: one of its own. Brokers ask any "
        "member of the group about a transaction; one that hasn't sent it answers `unknown`",
    )

    beside: Name | None = Field(
        default=None,
        description="a producer declared above it, whose process and client id it shares, like two producers of "
        "one application: RocketMQ refuses a second one of the same `group` there (`may_be_refused`)",
    )

    client_id: ClientId | None = Field(
        default=None,
        description="the first part of its client id (clientIP), default its name; with `@` the whole id, "
        "`172.17.0.2@1`, the same in every run. Producers with the same id run in separate processes. Only the "
        "Java client takes one",
    )

    may_be_refused: bool = Field(
        default=False,
        description="a start that RocketMQ refuses, as by its `group`, is recorded for the check `start-refused`, "
        "and the run continues; its messages are refused too",
    )

    namespace: Namespace | None = Field(
        default=None,
        description="its namespace (setNamespace), which its client puts before the topics to which it sends, and "
        "before its group; a scenario says their whole names, `ns%orders`",
    )

    settings: dict[str, Value] = Field(
        default_factory=dict,
        description="properties of RocketMQ's Java producer, by their own names, set before its start: "
        "`{sendMsgTimeout: 500, retryTimesWhenSendFailed: 2}`; the harness's own are 3000 and 0. The Go client "
        "takes these two as well. Names of topics in it stay as they are: `createTopicKey: orders` needs "
        "`names: as-written`",
    )

    through: Through = Field(
        default="brokers",
        description="`proxy`: it connects only to the proxy of RocketMQ 5, which has a port for remoting "
        "clients too. Java alone: that port wants a broker's name (bname) in each message",
    )

    name_servers: NameServerNames | None = Field(
        default=None,
        description="the name servers that it knows, `nameserver-2`; default: all of the cluster",
    )

    account: AccessKey | None = Field(default=None, description=ACCOUNT)

    jvm_args: JvmArgs = Field(default=(), description=JVM_ARGS)

    @model_validator(mode="after")
    def _can_be_set(self) -> Producer:
        if self.name_servers is not None and self.needs_proxy:
            raise ValueError(
                "it speaks to the proxy, which asks the name servers for it: leave out `name_servers`"
            )
        if self.through == "proxy" and self.choice.kind.name != USUAL_CLIENT:
            reason = (
                "speaks gRPC to the proxy anyway"
                if self.choice.kind.needs_proxy
                else "sends it no broker's name"
            )
            raise ValueError(f"{self.choice} {reason}: leave out `through`")
        if self.account is not None and not self.choice.kind.signs:
            raise ValueError(f"{self.choice} signs no requests here: leave out `account`")
        if self.client_id is not None and self.choice.kind.name != USUAL_CLIENT:
            raise ValueError(
                f"only RocketMQ's Java producer can have a `client_id`: {self.choice} has its own"
            )
        if self.client_id is not None and self.beside is not None:
            raise ValueError(f"it has the client id of {self.beside}: leave out `client_id` or `beside`")
        if self.jvm_args and not self.choice.kind.jvm:
            raise ValueError(f"{self.choice} has no JVM: leave out `jvm_args`")
        if self.jvm_args and self.beside is not None:
            raise ValueError(f"it is in the JVM of {self.beside}: leave out `jvm_args` or `beside`")
        if self.namespace is not None and not self.choice.kind.namespaces:
            raise ValueError(
                f"{self.choice.kind.title} can't do this: leave out `namespace: {self.namespace}`"
            )
        for problem in outside(self.namespace, (self.group,) if self.group else (), "group"):
            raise ValueError(problem)
        can = self.choice.kind.producer_properties
        lacking = [] if can is None else [name for name in self.settings if name not in can]
        if can is not None and lacking:
            has = f"only {', '.join(f'`{name}`' for name in sorted(can))}" if can else "none"
            raise ValueError(f"`settings`: {self.choice} has no `{lacking[0]}` here, {has}: leave it out")
        return self

    @property
    def choice(self) -> ClientChoice:
        """Its client."""
        return client_choice(self.client)

    @property
    def needs_proxy(self) -> bool:
        """Whether it speaks to the proxy: by its kind, or `through` it."""
        return self.choice.kind.needs_proxy or self.through == "proxy"
