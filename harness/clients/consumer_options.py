"""What a worker gets of a consumer in addition to its name, its subscriptions and its settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rocketchaos.harness.language.consumer_spec import Consumer as ConsumerSpec


def rare_options(spec: ConsumerSpec) -> dict[str, Any]:
    """What few workers take; empty for a consumer that says nothing of it."""
    chosen = {
        "filter_class": spec.filter_class,
        "namespace": spec.namespace,
        "offsets_of_host": _of_host(spec) or None,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def _of_host(spec: ConsumerSpec) -> bool:
    """Whether it keeps its offsets where all consumers of its host do that have no instance name."""
    return spec.instance is not None and spec.model == "broadcasting"


def start_options(spec: ConsumerSpec, configured_queues: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """What a worker gets of a consumer in addition to its name, its subscriptions and its settings."""
    return {
        "api": spec.api,
        "model": spec.model,
        "listener": spec.listener,
        "consume_from": spec.consume_from,
        "strategy": {
            "name": spec.strategy,
            "queues": list(configured_queues),
            "rooms": list(spec.rooms or ()),
        },
        "behaviour": {
            "fail": spec.behaviour.fail or 0,
            "block": spec.behaviour.blocks,
            "slow_ms": spec.behaviour.slow or 0,
            # Workers of other clients don't know it.
            **({} if spec.behaviour.by == "status" else {"by": spec.behaviour.by}),
        },
        "retry_delay_level": spec.retry_delay_level or 0,
    }
