"""A scenario's section `cluster`: brokers, slaves, their configuration, and a proxy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import (
    BeforeValidator,
    Field,
    StringConstraints,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from rocketchaos.harness.language.account import AccessKey, Account
from rocketchaos.harness.language.name_servers import (
    MOST,
    NameServerNames,
    name_server_names,
    registration_problem,
)
from rocketchaos.harness.language.name_servers import NAMESERVER as NAMESERVER
from rocketchaos.harness.language.server_lines import (
    ROLE,
    ConfigurationKey,
    ConfigurationValue,
    as_rocketmq_reads,
    broker_lines_problem,
    name_server_lines_problem,
)
from rocketchaos.harness.language.words import Strict, as_tuple
from rocketchaos.harness.rocketmq.access_key import HARNESS

SLAVE_SUFFIX = "-slave"
"""Behind a broker's name: the node that is its slave."""


ProxyMode = Literal["local", "cluster"]
"""`local`: the proxy is in one process with its broker; `cluster`: it is a server of its own, for all brokers."""


PROXY = "proxy"
"""The name of the node that a proxy in mode CLUSTER is."""


def topology_problem(
    brokers: Sequence[str], slaves: Sequence[str], proxy: ProxyMode | None = None, name_servers: int = 1
) -> str | None:
    """Why these can't be the brokers of a cluster, those of them that have a slave, and its proxy.

    None if they can.
    """
    nodes = [*name_server_names(name_servers), *brokers]
    nodes += [*(f"{broker}{SLAVE_SUFFIX}" for broker in slaves), *_proxy_nodes(proxy)]
    twice = sorted({node for node in nodes if nodes.count(node) > 1})
    strangers = [broker for broker in slaves if broker not in brokers]
    if not brokers:
        return "there is no such node"
    if strangers:
        return f"there is no broker `{strangers[0]}`, so that it can't have a slave"
    if proxy == "local" and (len(brokers) > 1 or slaves):
        return (
            "a proxy in mode LOCAL is in one process with its broker, and knows no other: "
            "`proxy: cluster` serves them all"
        )
    return f"`{twice[0]}` is the name of two nodes" if twice else None


def _proxy_nodes(proxy: ProxyMode | None) -> tuple[str, ...]:
    return (PROXY,) if proxy == "cluster" else ()


BrokerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_@-]{0,59}$")]
"""A broker's name; `room@name` for `AllocateMessageQueueByMachineRoom`."""


def _names(value: object) -> object:
    if isinstance(value, int | float | dict):
        what = "a mapping" if isinstance(value, dict) else "a number"
        raise ValueError(f"these are brokers by their names, not {what}: write `[broker-a, broker-b]`")
    return as_tuple(value)


BrokerNames = Annotated[
    tuple[BrokerName, ...],
    BeforeValidator(_names),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""Brokers: one, or a list."""


DASHBOARD_DEFAULT = "default"
"""The version of a dashboard that fits RocketMQ's."""


def _dashboard(value: object) -> object:
    return {True: DASHBOARD_DEFAULT, False: None}.get(value, value) if isinstance(value, bool) else value


DashboardVersion = Annotated[
    Annotated[str, StringConstraints(pattern=r"^(default|\d+\.\d+\.\d+)$")] | None,
    BeforeValidator(_dashboard),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"}]}),
]
"""`true`, or a version."""


class ClusterNeeds(Strict):
    """The cluster that the scenario needs. Scenarios that need the same share one.

    A scenario gets its own cluster if its steps act on a node or change a broker's configuration, or if it
    says `own`.

    Nodes are called `nameserver`, `nameserver-2`, as the brokers, `broker-a-slave` for the slave of `broker-a`,
    and `proxy`.
    """

    brokers: BrokerNames = Field(
        default=("broker-a",), min_length=1, max_length=8, description="its brokers, each a master"
    )
    slaves: BrokerNames = Field(
        default=(), description="brokers that also have a slave, which copies what the master stores"
    )
    controller: bool = Field(
        default=False,
        description="the controller of RocketMQ 5, in the first name server, elects masters: each broker at "
        "first, and its slave (`slaves`) once the broker is gone. A former master comes back as a slave. "
        "`settle: {master: broker-a-slave}` waits for an election; a `restart` doesn't wait until the broker is "
        "registered. `brokerRole` is left to the controller",
    )
    name_servers: int = Field(
        default=1,
        ge=1,
        le=MOST,
        description="how many name servers it has: `nameserver`, `nameserver-2` and so on; they know nothing of "
        "each other",
    )
    registers_with: dict[BrokerName, NameServerNames] = Field(
        default_factory=dict,
        description="brokers that register only with some of the name servers, a slave with the same as its "
        "master: `{broker-b: nameserver-2}`; all others register with every name server",
    )
    broker: dict[ConfigurationKey, ConfigurationValue] = Field(
        default_factory=dict,
        description="lines for the broker.conf of every broker: `autoCreateTopicEnable: false`; not its ports, "
        "names and folders, nor DLedger and the controller. `brokerRole: SYNC_MASTER` waits for its slave "
        "(`slaves`); default ASYNC_MASTER. The harness's own, with any timing: small files, "
        "`waitTimeMillsInSendQueue: 10000`, `osPageCacheBusyTimeOutMills: 10000`, `diskMaxUsedSpaceRatio: 95`, "
        "`cleanFileForciblyEnable: false`",
    )

    one_broker: dict[BrokerName, dict[ConfigurationKey, ConfigurationValue]] = Field(
        default_factory=dict,
        description="lines for the broker.conf of one broker alone, and of its slave, in addition to those of "
        "`broker`: `{broker-b: {brokerPermission: 4}}`",
    )

    namesrv: dict[ConfigurationKey, ConfigurationValue] = Field(
        default_factory=dict,
        description="lines for the namesrv.conf of every name server: `orderMessageEnable: true`; not its port "
        "and folders; with `controller` also its settings, `enableElectUncleanMaster: true`",
    )

    own: bool = Field(
        default=False,
        description="no other scenario runs on it meanwhile, so its servers' logs are about this one alone",
    )

    dashboard: DashboardVersion = Field(
        default=None,
        description='with RocketMQ\'s dashboard as a third witness: `true`, or its version, `"2.1.0"`',
    )

    proxy: ProxyMode | None = Field(
        default=None,
        description="the proxy of RocketMQ 5: `local`, in one process with the broker, or `cluster`, a server of "
        "its own; a client that needs one gets one by default",
    )

    advertise: Literal["address", "hostname"] = Field(
        default="address",
        description="the address that brokers register for clients (`brokerIP1`): their addresses, or the "
        "names of their containers, which only workers in containers can resolve",
    )

    flow_control: bool = Field(
        default=False,
        description="its brokers refuse pulls with FLOW_CONTROL (4.9.x: only pulls that they would have "
        "answered at once). A hook (RPCHook) in their JVMs does it, because RocketMQ has no rate limit for pulls",
    )

    tls: bool = Field(
        default=False,
        description="its servers also speak TLS, with a certificate that they make for themselves, as "
        "RocketMQ does by default. `$proxy` and `useTLS: true` switch it on; otherwise it is off, because making "
        "a key takes a second or more of each start",
    )

    accounts: dict[AccessKey, Account] = Field(
        default_factory=dict,
        description="its brokers have access control: ACL 1, from 5.3 on ACL 2, which a proxy has too. The "
        "accounts by access key, in the words of plain_acl.yml: `{shop-account: {topicPerms: [orders=PUB], "
        "groupPerms: [g=SUB]}}`, a key of 7 to 60 letters, digits, `_` and `-`; the harness makes their secret. "
        "Clients say `account`; names are `as-written`; it goes with neither `slaves` nor `dashboard`",
    )

    @field_validator("broker")
    @classmethod
    def _free_to_choose(cls, lines: dict[str, str | int | bool]) -> dict[str, str | int | bool]:
        if problem := broker_lines_problem(lines):
            raise ValueError(problem)
        return lines

    @field_validator("one_broker")
    @classmethod
    def _each_free_to_choose(
        cls, lines: dict[str, dict[str, str | int | bool]]
    ) -> dict[str, dict[str, str | int | bool]]:
        for own in lines.values():
            cls._free_to_choose(own)
        return lines

    @field_validator("namesrv")
    @classmethod
    def _free_to_choose_there(cls, lines: dict[str, str | int | bool]) -> dict[str, str | int | bool]:
        if problem := name_server_lines_problem(lines):
            raise ValueError(problem)
        return lines

    @model_validator(mode="after")
    def _possible(self) -> ClusterNeeds:
        problem = topology_problem(self.brokers, self.slaves, self.proxy, self.name_servers)
        problem = problem or registration_problem(self.name_servers, self.registers_with, self.brokers)
        problem = problem or self._accounts_problem or self._controller_problem
        strangers = [broker for broker in self.one_broker if broker not in self.brokers]
        if problem is None and strangers:
            problem = f"there is no broker `{strangers[0]}`, to which `one_broker` gives lines"
        if problem is not None:
            raise ValueError(problem)
        return self

    @property
    def _accounts_problem(self) -> str | None:
        if HARNESS in self.accounts:
            return f"`{HARNESS}` is the account of the harness itself: give this one another name"
        if self.accounts and (self.slaves or self.dashboard):
            return "with `accounts` it has brokers and a proxy: leave out `slaves` and `dashboard`"
        return None

    @property
    def _controller_problem(self) -> str | None:
        if self.controller and not self.slaves:
            return f"a controller elects a slave once its master is gone: write `slaves: {self.brokers[0]}`"
        if self.controller and any(ROLE in lines for lines in (self.broker, *self.one_broker.values())):
            return f"the controller decides which node is the master: leave out `{ROLE}`"
        return None

    @property
    def shape(self) -> str:
        """The settings that two scenarios must have in common to share a cluster, as one text."""
        lines = {
            "broker": self.broker_configuration,
            "one_broker": self.own_lines,
            "namesrv": as_rocketmq_reads(self.namesrv),
        }
        return json.dumps({**self.model_dump(mode="json", exclude={"own"}), **lines}, sort_keys=True)

    def with_long_polling(self) -> ClusterNeeds:
        """The same with brokers that tell waiting pulls of arrivals, unless it says otherwise itself."""
        return self.model_copy(update={"broker": {"longPollingEnable": True, **self.broker}})

    def with_a_trace_topic(self) -> ClusterNeeds:
        """The same with brokers that have the topic of the message trace, unless it says otherwise itself."""
        return self.model_copy(update={"broker": {"traceTopicEnable": True, **self.broker}})

    def with_tls(self) -> ClusterNeeds:
        """The same with servers that also speak TLS."""
        return self.model_copy(update={"tls": True})

    def with_a_proxy(self, *, for_remoting: bool = False) -> ClusterNeeds:
        """The same with a proxy, if it has none: the one in the broker's process, where there is one broker.

        For clients that speak remoting one of its own: in mode LOCAL it routes them to its gRPC port
        (`LocalTopicRouteService`; 5.5.0), where nobody answers them.
        """
        if self.proxy is not None:
            return self
        alone = len(self.brokers) == 1 and not self.slaves and not for_remoting
        return self.model_copy(update={"proxy": "local" if alone else "cluster"})

    @property
    def slave_nodes(self) -> tuple[str, ...]:
        """The slaves' nodes."""
        return tuple(f"{broker}{SLAVE_SUFFIX}" for broker in self.slaves)

    @property
    def nodes(self) -> tuple[str, ...]:
        """All nodes, the name servers first."""
        return (*self.name_server_nodes, *self.brokers, *self.slave_nodes, *_proxy_nodes(self.proxy))

    @property
    def name_server_nodes(self) -> tuple[str, ...]:
        """The name servers' nodes."""
        return name_server_names(self.name_servers)

    def name_servers_of(self, broker: str) -> tuple[str, ...]:
        """The name servers' nodes with which a broker registers."""
        return self.registers_with.get(broker, self.name_server_nodes)

    def known_to(self, name_server: str) -> frozenset[str]:
        """The brokers that register with a name server."""
        return frozenset(broker for broker in self.brokers if name_server in self.name_servers_of(broker))

    @property
    def broker_configuration(self) -> dict[str, str]:
        """The lines as RocketMQ reads them."""
        return as_rocketmq_reads(self.broker)

    @property
    def own_lines(self) -> dict[str, dict[str, str]]:
        """The lines of single brokers as RocketMQ reads them."""
        return {name: as_rocketmq_reads(lines) for name, lines in self.one_broker.items()}

    def lines_of(self, broker: str) -> dict[str, str]:
        """All lines of one broker, its own before those of every broker."""
        return {**self.broker_configuration, **self.own_lines.get(broker, {})}

    @property
    def leaves_permissions(self) -> bool:
        """Whether routes have the topics' own `perm`: no broker has a `brokerPermission`, which changes them."""
        return not any("brokerPermission" in self.lines_of(broker) for broker in self.brokers)


USUAL = ClusterNeeds()
"""What a scenario needs that says nothing about its cluster."""
