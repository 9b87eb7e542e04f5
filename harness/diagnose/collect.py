"""One look at a cluster: what is asked, of whom, in which order."""

import asyncio
import dataclasses
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from tenacity import AsyncRetrying, retry_if_result, stop_after_attempt, wait_fixed

from rocketchaos.harness.diagnose import backlogs, clocks, copies, heartbeats, read, requests, similar
from rocketchaos.harness.diagnose.entries import add_entries
from rocketchaos.harness.diagnose.exchange import Asker, Exchange, Keep
from rocketchaos.harness.diagnose.model import (
    DEAD_LETTERS,
    HEARTBEATS,
    RETRY,
    REVIVING,
    TRANSACTIONS,
    Broker,
    Connection,
    Look,
    Route,
    disagree,
    is_of_rocketmq,
)
from rocketchaos.harness.diagnose.view import PROXY

SETTINGS_EVERY = 6
"""Settings and routes are asked for again in every sixth look, after about 30 s, as clients ask for routes. At
once where a broker comes, or has another address."""
YOUNG_BROKER_WAIT_S = 1.0
YOUNG_BROKER_ATTEMPTS = 3
"""A young broker answers GET_BROKER_RUNTIME_INFO with an exception, for one second (StoreStatsService; 4.9.4)."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What is looked at."""

    name_servers: tuple[str, ...]
    groups: tuple[str, ...] | None
    """None: all that the brokers know."""
    topics: tuple[str, ...] = ()
    """Only these; none: all that the groups consume."""
    proxies: tuple[str, ...] = ()
    """Remoting ports of proxies, which know groups of their own."""
    read_messages: bool = False
    """Messages are read to be certain of their tags."""
    pseudonyms: bool = False
    """Names are pseudonyms, of a bundle: whatever goes by the hash of a name can't be recomputed."""

    def wants(self, topic: str) -> bool:
        """Whether a topic is looked at."""
        return not self.topics or topic in self.topics


class Collector:
    """Looks at a cluster, or at the record of one."""

    def __init__(self, asker: Asker, scope: Scope) -> None:
        self._asker = asker
        self.scope = scope
        self._known: Look | None = None
        """The look in which settings and routes were asked for last."""
        self._answered: dict[str, Look] = {}
        """By broker: the look that has its settings."""

    async def look(self, number: int, only: Collection[str] | None = None) -> Look:
        """Ask everything once; a missing answer is in the look as such.

        Args:
            number: of the look, from 0 on.
            only: these groups alone; None: all that are looked at.
        """
        item = Look(number, int(time.time() * 1000))
        anew = await self._cluster(item)
        groups = [group for group in self._groups(item) if only is None or group in only]
        await asyncio.gather(
            copies.add_copies(item, self._runtime, self._ask, self._keep_offsets),
            backlogs.add_backlogs(item, self._ask),
            *(self._group(item, group) for group in groups),
        )
        topics = sorted({topic for group in groups for topic in self.topics_of(item, group)})
        own = [f"{prefix}{group}" for group in groups for prefix in (RETRY, DEAD_LETTERS)]
        await asyncio.gather(*(self._topic(item, topic, anew) for topic in [*topics, *own]))
        members = [
            (group, client_id, found)
            for group in groups
            for client_id, found in self._connections(item, group).items()
        ]
        await asyncio.gather(*(self._member(item, number, *member) for number, member in enumerate(members)))
        if self.scope.groups is not None and not all(item.members[group] for group in groups):
            item.proxies = await self._routes(item, HEARTBEATS)
        behind = [group for group in groups if self._knows_by_proxy(item, group)]
        await heartbeats.add_subscriptions(item, partial(self._ask, item), behind)
        # Whoever came while it was asked for brought topics of its own.
        late = {topic for group in groups for topic in self.topics_of(item, group)} - set(topics)
        await asyncio.gather(*(self._topic(item, topic, anew) for topic in sorted(late)))
        # Of a topic that was named and that nobody consumes, only the route matters.
        for topic in sorted(set(self.scope.topics) - set(item.routes)):
            item.routes[topic] = self._known_routes(topic, anew) or await self._routes(item, topic)
        await similar.add_similar(item, self._ask)
        asked = [*(known.exchange for known in item.registered.values()), *item.offset_tables.values()]
        item.at_ms = min((exchange.at_ms for exchange in asked if exchange.at_ms), default=item.at_ms)
        if anew and item.brokers:
            self._known = item
        return item

    def topics_of(self, look: Look, group: str) -> list[str]:
        """The topics that a group consumes, of those that are looked at."""
        return sorted(filter(self.scope.wants, consumed_topics(look, group)))

    async def entries(self, look: Look) -> None:
        """Read the newest entries of ConsumeQueues where they matter."""
        await add_entries(
            look,
            partial(self._ask, look),
            {group: self.topics_of(look, group) for group in look.stored},
            named=self.scope.groups is not None,
            messages=self.scope.read_messages,
        )

    # One kind of question each ----------------------------------------------------------------------------

    async def _cluster(self, look: Look) -> bool:
        """Ask for all brokers and their offsets; whether this look asks for settings and routes, too."""
        answers = await asyncio.gather(
            *(self._ask(look, ns, requests.GET_BROKER_CLUSTER_INFO) for ns in self.scope.name_servers)
        )
        for answer in answers:
            look.registered[answer.address] = read.registered(answer)
        addresses: dict[str, dict[int, str]] = {}
        clusters: dict[str, str] = {}
        for registered in look.registered.values():
            for name, known in registered.brokers.items():
                addresses.setdefault(name, {}).update(known)
            clusters.update(registered.clusters)
        for name, known in sorted(addresses.items()):
            look.brokers[name] = Broker(name, clusters.get(name, ""), known)
        before = self._known
        anew = before is None or look.number - before.number >= SETTINGS_EVERY or _has_arrivals(before, look)
        await asyncio.gather(*(self._broker(look, broker, anew) for broker in list(look.brokers.values())))
        return anew

    async def _broker(self, look: Look, broker: Broker, anew: bool) -> None:
        offsets = self._ask(look, broker.address, requests.GET_ALL_CONSUMER_OFFSET, keep=self._keep_offsets)
        known = self._answered.get(broker.name)
        if anew or known is None or _is_missing(known, broker.name):
            answered, answer = await asyncio.gather(self._settings(look, broker), offsets)
        else:
            answered, answer = False, await offsets
        if answered or known is None:
            self._answered[broker.name] = look
        else:
            self._keep_settings(look, broker, known)
        look.offset_tables[broker.name] = answer
        look.offsets[broker.name] = read.offsets(answer)

    def _keep_offsets(self, body: bytes) -> bytes:
        wanted = self.scope.groups
        return read.keep_offsets(body, None if wanted is None else (*wanted, TRANSACTIONS, REVIVING))

    async def _settings(self, look: Look, broker: Broker) -> bool:
        """Ask a broker for its settings, its groups' and its modes; whether it answered all of it."""
        ask = partial(self._ask, look, broker.address)
        wanted = self.scope.groups
        config, runtime, groups = await asyncio.gather(
            ask(requests.GET_BROKER_CONFIG, keep=read.keep_settings),
            self._runtime(look, broker.address),
            ask(
                requests.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
                keep=lambda body: read.keep_groups(body, wanted),
            ),
        )
        table = read.mapping(read.mapping(runtime.document).get("table"))
        asked = look.brokers[broker.name] = Broker(
            broker.name,
            broker.cluster,
            broker.addresses,
            read.properties_file(config),
            {key: str(value) for key, value in table.items()},
            (config, runtime),
        )
        look.group_configs[broker.name] = groups
        look.groups[broker.name] = dict(
            read.mapping(read.mapping(groups.document).get("subscriptionGroupTable"))
        )
        if asked.is_of_5:
            look.modes[broker.name] = await ask(
                requests.GET_ALL_MESSAGE_REQUEST_MODE, keep=lambda body: read.keep_modes(body, wanted)
            )
        return config.succeeded and runtime.succeeded and groups.succeeded

    @staticmethod
    def _keep_settings(look: Look, broker: Broker, known: Look) -> None:
        """As an earlier look knows them."""
        look.brokers[broker.name] = dataclasses.replace(
            known.brokers[broker.name], addresses=broker.addresses
        )
        look.group_configs[broker.name] = known.group_configs[broker.name]
        look.groups[broker.name] = known.groups[broker.name]
        if broker.name in known.modes:
            look.modes[broker.name] = known.modes[broker.name]

    async def _runtime(self, look: Look, address: str) -> Exchange:
        ask = AsyncRetrying(
            retry=retry_if_result(_has_no_statistics_yet),
            wait=wait_fixed(YOUNG_BROKER_WAIT_S),
            stop=stop_after_attempt(YOUNG_BROKER_ATTEMPTS),
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )
        answer: Exchange = await ask(
            self._ask, look, address, requests.GET_BROKER_RUNTIME_INFO, keep=read.keep_runtime
        )
        return answer

    def _groups(self, look: Look) -> list[str]:
        if self.scope.groups is not None:
            return list(self.scope.groups)
        found = {group for table in look.groups.values() for group in table}
        found |= {group for table in look.offsets.values() for group in table}
        return sorted(item for item in found if not is_of_rocketmq(item))

    async def _group(self, look: Look, group: str) -> None:
        at = {name: broker.address for name, broker in look.brokers.items()}
        at |= {f"{PROXY}{address}": address for address in self.scope.proxies}
        fields = {"consumerGroup": group}
        answers = await asyncio.gather(
            *(
                self._ask(look, address, requests.GET_CONSUMER_CONNECTION_LIST, fields)
                for address in at.values()
            )
        )
        look.stored[group] = {name: read.stored(answer) for name, answer in zip(at, answers, strict=True)}
        look.members[group] = {}

    @staticmethod
    def _knows_by_proxy(look: Look, group: str) -> bool:
        return any(stored.online for name, stored in look.stored[group].items() if name.startswith(PROXY))

    @staticmethod
    def _connections(look: Look, group: str) -> Mapping[str, tuple[Connection, ...]]:
        found: dict[str, set[Connection]] = {}
        for stored in look.stored[group].values():
            for connection in stored.connections:
                found.setdefault(connection.client_id, set()).add(connection)
        return {
            client_id: tuple(sorted(known, key=lambda item: item.address))
            for client_id, known in sorted(found.items())
        }

    async def _member(
        self, look: Look, number: int, group: str, client_id: str, connections: tuple[Connection, ...]
    ) -> None:
        """Ask one member; the brokers that know it take turns at forwarding."""
        by_name = look.stored[group]
        knowing = [
            name
            for name in by_name
            if any(connection.client_id == client_id for connection in by_name[name].connections)
        ]
        brokers = [name for name in knowing if not name.startswith(PROXY)] or knowing
        broker = brokers[number % len(brokers)]
        fields = {"consumerGroup": group, "clientId": client_id, "jstackEnable": "false"}
        address = by_name[broker].exchange.address
        answer = await self._ask(
            look, address, requests.GET_CONSUMER_RUNNING_INFO, fields, keep=read.keep_member
        )
        look.members[group][client_id] = read.member(client_id, answer, connections)

    async def _topic(self, look: Look, topic: str, anew: bool) -> None:
        routes = self._known_routes(topic, anew)
        look.routes[topic] = await self._routes(look, topic) if routes is None else routes
        holders = {name for route in look.routes[topic].values() for name in route.brokers}
        holders |= look.retried_at(topic)
        known = [name for name in sorted(holders) if name in look.brokers]
        await asyncio.gather(
            self._topic_config(look, topic, known, anew or routes is None), self._ends(look, topic, known)
        )

    def _known_routes(self, topic: str, anew: bool) -> dict[str, Route] | None:
        """Those of the last look that asked for routes; None: ask now."""
        routes = None if anew or self._known is None else self._known.routes.get(topic)
        if routes is not None and disagree(routes.values()):
            return None  # it may have been a moment of a change
        if routes is not None and any(route.exchange.answer_code is None for route in routes.values()):
            return None  # a name server that was busy may answer now
        return routes

    async def _ends(self, look: Look, topic: str, holders: Sequence[str]) -> None:
        answers = await asyncio.gather(
            *(
                self._ask(look, look.brokers[name].address, requests.GET_TOPIC_STATS_INFO, {"topic": topic})
                for name in holders
            )
        )
        look.stats[topic] = dict(zip(holders, answers, strict=True))
        look.ends[topic] = clocks.ends(look.stats[topic], look.brokers)

    async def _topic_config(self, look: Look, topic: str, holders: Sequence[str], anew: bool) -> None:
        """Ask a broker of 5.x for a topic's type; RocketMQ itself makes the topics of retries and dead letters."""
        asked = next((look.brokers[name] for name in holders if look.brokers[name].is_of_5), None)
        if asked is None or topic.startswith((RETRY, DEAD_LETTERS)):
            return
        if not anew and self._known is not None and topic in self._known.topic_configs:
            look.topic_configs[topic] = self._known.topic_configs[topic]
            return
        look.topic_configs[topic] = await self._ask(
            look, asked.address, requests.GET_TOPIC_CONFIG, {"topic": topic}, read.keep_topic
        )

    async def _routes(self, look: Look, topic: str) -> dict[str, Route]:
        answers = await asyncio.gather(
            *(
                self._ask(look, name_server, requests.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})
                for name_server in self.scope.name_servers
            )
        )
        return {answer.address: read.route(answer) for answer in answers}

    async def _ask(
        self,
        look: Look,
        address: str,
        code: int,
        fields: Mapping[str, str] | None = None,
        keep: Keep | None = None,
    ) -> Exchange:
        return await self._asker.ask(look.number, address, code, fields or {}, keep)


def _is_missing(known: Look, broker: str) -> bool:
    """Whether this broker left a question about its settings without any answer, as under load."""
    asked = (*known.brokers[broker].asked, known.group_configs[broker], known.modes.get(broker))
    return any(item is not None and item.answer_code is None for item in asked)


def _has_arrivals(before: Look, look: Look) -> bool:
    """Whether name servers know a broker since, or know one at another address."""
    return any(
        name not in before.brokers or broker.addresses != before.brokers[name].addresses
        for name, broker in look.brokers.items()
    )


def consumed_topics(look: Look, group: str) -> set[str]:
    """The topics that a group consumes, by what brokers and members say, without its own ones."""
    found: set[str] = set()
    for stored in look.stored.get(group, {}).values():
        found.update(stored.subscriptions)
    for member in look.members.get(group, {}).values():
        found.update(member.subscriptions)
    for table in look.offsets.values():
        found.update(table.get(group, {}))
    return found - {f"{RETRY}{group}", f"{DEAD_LETTERS}{group}"}


def _has_no_statistics_yet(answer: Exchange) -> bool:
    return answer.answer_code == 1 and "java.util.NoSuchElementException" in answer.remark
