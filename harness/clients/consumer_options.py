"""What a worker gets of a consumer for its start, and what it must have started."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.language.consumer_spec import Consumer as ConsumerSpec
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.rocketmq.client_traits import Api
from rocketchaos.harness.rocketmq.timing_profiles import TimingProfile
from rocketchaos.harness.workers.lease import WorkerProcess

_GRPC_JAR = (
    "A jar is seen through RocketMQ's remoting client: run one with the gRPC client as "
    "`command: [java, -jar, …]`, with `sees`. "
)


def settings_of(spec: ConsumerSpec, timing: TimingProfile, rocketmq: str) -> dict[str, Any]:
    """The properties of its client, with servers of this version."""
    if not spec.choice.kind.compressed:
        return spec.properties
    return {**timing.settings_of(spec.api, spec.choice.version_on(rocketmq)), **spec.properties}


def rare_options(spec: ConsumerSpec) -> dict[str, Any]:
    """What few workers take; empty for a consumer that says nothing of it."""
    chosen = {
        "filter_class": spec.filter_class,
        "namespace": spec.namespace,
        "invisible_ms": spec.invisible,
        "await_ms": spec.await_duration,
        "offsets_of_host": _of_host(spec) or None,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def _of_host(spec: ConsumerSpec) -> bool:
    """Whether it keeps its offsets where all consumers of its host do that have no instance name."""
    return spec.instance is not None and spec.model == "broadcasting"


def configured_queues(
    spec: ConsumerSpec, real: Callable[[str], str], queues: Callable[[str], Sequence[Queue]]
) -> list[dict[str, Any]]:
    """The queues that `by-config` names: of every topic, those with the ids, on every broker."""
    return [
        {"topic": real(topic), "broker": broker, "id": number}
        for topic in spec.subscribe
        for broker, number in queues(topic)
        if number in (spec.queues or ())
    ]


def start_options(spec: ConsumerSpec, configured: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """What a worker gets of a consumer in addition to its name, its subscriptions and its settings."""
    return {
        "api": spec.api,
        "model": spec.model,
        "listener": spec.listener,
        "consume_from": spec.consume_from,
        "strategy": {
            "name": spec.strategy,
            "queues": list(configured),
            "rooms": list(spec.rooms or ()),
        },
        "behaviour": {
            "fail": spec.behaviour.fail or 0,
            "block": spec.behaviour.blocks,
            "slow_ms": spec.behaviour.slow or 0,
            # Workers of other clients don't know these.
            **({} if spec.behaviour.by == "status" else {"by": spec.behaviour.by}),
            **(
                {}
                if spec.behaviour.change_invisible is None
                else {"change_invisible_ms": spec.behaviour.change_invisible}
            ),
            **({"reply": True} if spec.behaviour.reply else {}),
            **(
                {} if spec.behaviour.auto_commit else {"auto_commit": False, "commit": spec.behaviour.commits}
            ),
            **({} if spec.behaviour.only is None else {"only": spec.behaviour.only}),
        },
        "retry_delay_level": spec.retry_delay_level or 0,
    }


def started_as(
    spec: ConsumerSpec, traits: Api, answer: Mapping[str, Any], rocketmq: str, worker: WorkerProcess
) -> dict[str, Any]:
    """What the event of its start says, without its client id."""
    return {
        "group": spec.group,
        "client": spec.choice.kind.name,
        "client_version": answer.get("client_version") or spec.choice.version_on(rocketmq),
        "api": spec.api,
        "filters_by": traits.filters_by,
        "filters_itself": traits.filters_itself,
        "queues": traits.queues,
        **answer.get("traits", {}),
        "pid": worker.pid,
        "process": worker.process,
    }


def require_started(name: str, spec: ConsumerSpec, answer: Mapping[str, Any], limit_s: float) -> None:
    """Make sure that a user's program has started this consumer, of the model that the scenario says.

    Raises:
        EnvironmentNotReady: it hasn't; with the groups whose consumers it has started.
    """
    if "client_id" in answer:
        _require_model(name, spec, answer)
        return
    groups = ", ".join(answer["groups"])
    way_out = _GRPC_JAR if spec.app is not None and spec.app.needs_proxy else ""
    way_out += f"If it is the one of {groups}, correct `group` in the scenario. " if groups else ""
    raise EnvironmentNotReady(
        f"the program of {name} has not started its consumer of the group {spec.group} within {limit_s:g} s; "
        f"so far it has started {f'a consumer of {groups}' if groups else 'no consumer at all'}",
        f"{way_out}Its output is in the run folder, logs/. `ready_within` gives it more time.",
        about=(name,),
    )


def _require_model(name: str, spec: ConsumerSpec, answer: Mapping[str, Any]) -> None:
    """Make sure that a user's program shares out its messages, or broadcasts, as the scenario says.

    Raises:
        EnvironmentNotReady: it does the other.
    """
    own = answer.get("model", spec.model)
    if own != spec.model:
        raise EnvironmentNotReady(
            f"the consumer {name} is {own}, and the scenario says {spec.model}",
            f"Say in the scenario what the program does: `model: {own}`.",
            about=(name,),
        )


def require_expected(name: str, spec: ConsumerSpec) -> None:
    """Make sure that the scenario says the subscription of a user's program whose client doesn't report it.

    Raises:
        EnvironmentNotReady: it doesn't.
    """
    if not spec.subscribe:
        raise EnvironmentNotReady(
            f"the client of {name} doesn't say to what it subscribes, and the scenario doesn't either",
            f"Add what you expect to the consumer {name}: `subscribe: {{orders: '*'}}`.",
            about=(name,),
        )
