"""From a seed to a scenario: the same document for the same seed, number and profile, always."""

import random
from pathlib import Path
from typing import Any

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.nightly.checks import open_checks
from rocketchaos.harness.nightly.dimensions import GROUPS, MEMBERS, PRODUCERS, TOPICS
from rocketchaos.harness.nightly.document import MARK, Document, text_of
from rocketchaos.harness.nightly.draft import CHECKED_SOON, SQL_PROPERTY, SQL_VALUES, Draft, Member, Step
from rocketchaos.harness.nightly.operations import OPERATIONS
from rocketchaos.harness.nightly.profile import Profile, Service
from rocketchaos.harness.nightly.triggers import TRIGGERS
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS, USUAL_CLIENT, Api
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario


def scenario_of(seed: int, number: int, profile: Profile, on: ClusterKind = ClusterKind.EMBEDDED) -> Scenario:
    """The scenario of this number."""
    document = draw(seed, number, profile, on)
    # The program of a service is looked up from the profile's folder.
    folder = profile.folder if profile.service is not None else None
    return parse_scenario(text_of(document), str((folder or Path()) / f"{document['name']}.scenario.yaml"))


def draw(seed: int, number: int, profile: Profile, on: ClusterKind = ClusterKind.EMBEDDED) -> Document:
    """The document of this number. All random choices come from a generator of its own.

    Faults of the network are drawn for containers only.
    """
    rng = random.Random(f"rocketchaos {seed} {number}")
    # What is drawn later must not decide what is drawn before: operations first say whether a server is
    # touched.
    operations = _operations(rng, profile, on)
    draft = _cast(rng, profile, in_containers=any(OPERATIONS[name].in_containers for name in operations))
    draft.own_cluster = any(OPERATIONS[name].on_nodes for name in operations)
    draft.sendings_may_fail = any(OPERATIONS[name].sendings_may_fail for name in operations)
    steps = _steps(draft, operations)
    return _document(seed, number, draft, steps, _in_words(profile, on))


def require_operations(profile: Profile, on: ClusterKind) -> None:
    """Make sure that some of the operations that a profile names can be drawn at all.

    Raises:
        UsageProblem: none of them can.
    """
    if any(profile.operations.values()) and not _weights_of_operations(profile, on):
        named = ", ".join(name for name, weight in profile.operations.items() if weight)
        raise UsageProblem(
            f"none of the operations that the profile names can be drawn: {named}",
            "Those of the network need `--on containers`; operations that make members differ are "
            "none for `consistent: only`.",
        )


def _weights_of_operations(profile: Profile, on: ClusterKind) -> dict[str, float]:
    return {
        name: weight
        for name, weight in profile.weights_of_operations().items()
        if weight
        and (OPERATIONS[name].agreeing or not profile.agreeing)
        and (on is ClusterKind.CONTAINERS or not OPERATIONS[name].in_containers)
        # The network of a program on the host can't be reached.
        and (profile.service is None or not OPERATIONS[name].in_containers)
    }


def _operations(rng: random.Random, profile: Profile, on: ClusterKind) -> list[str]:
    weights = _weights_of_operations(profile, on)
    if not weights:
        return []
    count = int(profile.draw(rng, "operations"))
    return rng.choices(list(weights), list(weights.values()), k=count)


# Who is there ------------------------------------------------------------------------------------------


def _cast(rng: random.Random, profile: Profile, *, in_containers: bool) -> Draft:
    if profile.service is not None:
        return _cast_of_service(rng, profile, profile.service)
    topics = {name: int(profile.draw(rng, "queues")) for name in TOPICS[: int(profile.draw(rng, "topics"))]}
    brokers = ("broker-a", "broker-b")[: int(profile.draw(rng, "brokers"))]
    producers = PRODUCERS[: int(profile.draw(rng, "producers")) - 1]
    draft = Draft(rng, profile, topics, brokers, [], producers=producers, in_containers=in_containers)
    for group in GROUPS[: int(profile.draw(rng, "groups"))]:
        draft.members += _members(draft, group)
    _name_clients(draft)
    return draft


def _cast_of_service(rng: random.Random, profile: Profile, service: Service) -> Draft:
    """Members of one group, each an instance of the user's program."""
    topics = {name: int(profile.draw(rng, "queues")) for name in service.subscribe}
    brokers = ("broker-a", "broker-b")[: int(profile.draw(rng, "brokers"))]
    draft = Draft(rng, profile, topics, brokers, [])
    first, late = int(draft.word("members")), int(draft.word("late"))
    draft.members += [
        Member(name, service.group, service.fields, late=number >= first)
        for number, name in enumerate(MEMBERS[: first + late])
    ]
    return draft


def _members(draft: Draft, group: str) -> list[Member]:
    first, late = int(draft.word("members")), int(draft.word("late"))
    common = _of_group(draft)
    by_sql = draft.word("filter") == "sql" and _traits(common).sql
    draft.sql = draft.sql or by_sql
    members: list[Member] = []
    for number in range(first + late):
        name = MEMBERS[len(draft.members) + number]
        fields = {"group": group, "subscribe": _subscriptions(draft, members, by_sql), **common}
        own_strategy = draft.word("strategies") == "own" and not draft.profile.agreeing
        if members and own_strategy and "strategy" in fields:
            fields["strategy"] = draft.word("strategy")
        fields |= _own(draft, fields)
        members.append(Member(name, group, _without_defaults(fields), late=number >= first))
    return members


def _of_group(draft: Draft) -> dict[str, Any]:
    """The common traits of a group's members: their client, and the words that it knows."""
    kind, _, api = draft.word("client").partition(" ")
    common = {
        "client": kind,
        "api": api,
        "strategy": draft.word("strategy"),
        "listener": draft.word("listener"),
        "batch_size": int(draft.word("batch")),
    }
    return {name: value for name, value in common.items() if name not in _traits(common).lacks}


def _traits(fields: dict[str, Any]) -> Api:
    """How a consumer with these fields consumes."""
    return CLIENT_KINDS[fields["client"]].apis[fields["api"]]


def _subscriptions(draft: Draft, members: list[Member], by_sql: bool) -> dict[str, Any]:
    if members and (draft.profile.agreeing or draft.word("subscriptions") == "same"):
        return dict(members[0].fields["subscribe"])
    if by_sql:
        return {topic: {"sql": f"{SQL_PROPERTY} = {draft.rng.choice(SQL_VALUES)}"} for topic in draft.topics}
    found = {topic: draft.word("expression") for topic in draft.topics}
    wanted = {topic: expression for topic, expression in found.items() if expression != "none"}
    return wanted or {draft.rng.choice(list(draft.topics)): "*"}


def _own(draft: Draft, fields: dict[str, Any]) -> dict[str, Any]:
    """The traits of a single member."""
    own: dict[str, Any] = {}
    behaviours: dict[str, Any] = {
        "fail once": {"fail": 1},
        "fail twice": {"fail": 2},
        "throw once": {"fail": 1, "by": "exception"},
        "slow": {"slow": draft.rng.choice(("20ms", "100ms"))},
        "slow and fail": {"slow": "50ms", "fail": 1},
        "block": {"block": f"{draft.rng.choice(list(draft.topics))}-{draft.rng.randint(1, 8)}"},
    }
    behaviour = draft.word("behaviour")
    traits = _traits(fields)
    if behaviour == "throw once" and fields.get("client") != USUAL_CLIENT:
        behaviour = "fail once"  # another client has no exceptions, or takes none for a failure
    if behaviour in behaviours and not traits.retries:
        behaviour = "slow"  # what has no retries mostly has no listener that could fail or block
    if behaviour in behaviours:
        own["behaviour"] = behaviours[behaviour]
        delayed = "retry_delay_level" not in traits.lacks and fields.get("listener") != "orderly"
        if "fail" in own["behaviour"] and delayed:
            own["retry_delay_level"] = 1  # the shortest one; the brokers' own is 10 s and more
    setting, _, value = draft.word("settings").partition(" ")
    if value and (fields.get("client"), fields.get("api")) == (USUAL_CLIENT, "push"):
        own["settings"] = {setting: int(value)}
    if draft.word("process") == "own":
        own["process"] = "own"
    return own


def _without_defaults(fields: dict[str, Any]) -> dict[str, Any]:
    usual = {
        "client": "java",
        "api": "push",
        "strategy": "average",
        "listener": "concurrent",
        "batch_size": 1,
    }
    return {name: value for name, value in fields.items() if usual.get(name) != value}


def _name_clients(draft: Draft) -> None:
    how = draft.word("client_ids")
    if how == "reversed":
        for group in draft.groups:
            members = draft.of(group)
            for member, name in zip(members, reversed([item.name for item in members]), strict=True):
                if member.name != name:
                    member.fields["client_id"] = f"{name}{name}"
    if how == "shared" and len(draft.groups) > 1 and not draft.in_containers:
        host, guest = (draft.of(group)[0] for group in draft.groups[:2])
        if all({"process", "client"}.isdisjoint(item.fields) and not item.late for item in (host, guest)):
            guest.fields |= {"beside": host.name, "client_id": host.name}


# What happens ------------------------------------------------------------------------------------------


def _steps(draft: Draft, operations: list[str]) -> list[Step]:
    steps = draft.start([member for member in draft.members if not member.late])
    steps += draft.settle()
    for name in operations:
        done = _operation(draft, name)
        steps += [*done, *draft.settle()] if done else []
    steps += draft.sendings()
    blocking = [
        item for item in draft.members if item.running and "block" in item.fields.get("behaviour", {})
    ]
    steps += [{"release": item.name} for item in blocking]
    return [*steps, *draft.seal()]


def _operation(draft: Draft, name: str) -> list[Step]:
    """The operation at a possible moment; nothing if it is impossible."""
    operation, rng = OPERATIONS[name], draft.rng
    groups = [group for group in draft.groups if draft.running(group)]
    group = rng.choice(groups)
    weights = {
        trigger: weight
        for trigger, weight in draft.profile.weights_of_triggers().items()
        if weight and TRIGGERS[trigger].possible(draft, group)
    }
    if not operation.possible(draft, group) or not weights:
        return []
    trigger = TRIGGERS[rng.choices(list(weights), list(weights.values()))[0]]
    # A trigger may need those on whom the operation would be done, as newcomers: then the moment passes without
    # it.
    return trigger.around(
        draft, group, lambda: operation.play(draft, group) if operation.possible(draft, group) else []
    )


def _in_words(profile: Profile, on: ClusterKind) -> str:
    """The options that decide, together with the seed, what is drawn."""
    text = "" if on is ClusterKind.EMBEDDED else f" --on {on.value}"
    return text if profile == Profile() else f"{text} --profile FILE"


def _document(seed: int, number: int, draft: Draft, steps: list[Step], options: str) -> Document:
    started = [member for member in draft.members if member.state != "new"]
    names = {member.name for member in started}
    cluster: dict[str, Any] = {}
    if len(draft.brokers) > 1:
        cluster["brokers"] = list(draft.brokers)
    broker: dict[str, Any] = {}
    if draft.sql:
        broker["enablePropertyFilter"] = True
    if draft.checked:
        broker |= CHECKED_SOON
    if broker:
        cluster["broker"] = broker
    document: Document = {
        "name": f"nightly-{seed}-{number}",
        "title": _title(draft, started),
        "description": f"Drawn by `rocketchaos nightly --seed {seed}{options}`, number {number}.",
        "marks": [MARK],
    }
    if draft.in_containers:
        document["workers"] = "containers"
    if cluster:
        document["cluster"] = cluster
    document["topics"] = {name: {"queues": queues} for name, queues in draft.topics.items()}
    # The broker asks only a producer that it knows by a heartbeat.
    known_soon = {"settings": {"heartbeatBrokerInterval": 1000}} if draft.checked else {}
    if known_soon:
        document["producer"] = known_soon
    if draft.producers:
        document["producers"] = {name: dict(known_soon) for name in draft.producers}
    document["consumers"] = {member.name: member.fields for member in draft.members if member.name in names}
    document["steps"] = steps
    return {**document, **open_checks(draft.groups, draft.brokers)}


def _title(draft: Draft, started: list[Member]) -> str:
    sentences = []
    for group in draft.groups:
        mine = [member for member in started if member.group == group]
        who = "one member" if len(mine) == 1 else f"{len(mine)} members"
        differ = len({str(sorted(member.fields["subscribe"].items(), key=str)) for member in mine}) > 1
        how = "" if len(mine) == 1 else " that disagree" if differ else " that agree"
        sentences.append(f"{group} has {who}{how}")
    return f"{' and '.join(sentences)}; {', '.join(draft.story) or 'nothing is done to anybody'}"
