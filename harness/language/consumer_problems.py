"""What a consumer's declaration can't mean together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rocketchaos.harness.language.expressions import SqlExpression
from rocketchaos.harness.language.namespace import outside
from rocketchaos.harness.rocketmq.client_kinds import Api, ClientKind

if TYPE_CHECKING:
    from rocketchaos.harness.language.consumer_spec import Consumer


def given(consumer: Consumer, names: Sequence[str]) -> list[str]:
    """Those of its fields that say another thing than their default."""
    fields = type(consumer).model_fields
    return [
        name
        for name in names
        if getattr(consumer, name) != fields[name].get_default(call_default_factory=True)
    ]


def lacking_in(consumer: Consumer, kind: ClientKind, api: Api) -> list[str]:
    """What this consumer says, and this client can't do."""
    lacking = given(consumer, api.lacks)
    if api.properties is not None:
        unknown = (name for name in consumer.properties if name not in api.properties)
        lacking = list(dict.fromkeys([*lacking, *map(consumer.key_of, unknown)]))
    lacking += [f"client_id: {consumer.client_id}"] if consumer.has_whole_id and not kind.takes_ids else []
    lacking += [f"namespace: {consumer.namespace}"] if consumer.namespace and not kind.namespaces else []
    lacking += ["jvm_args"] if consumer.jvm_args and not kind.jvm else []
    lacking += ["behaviour: {fail: …}"] if consumer.behaviour.fail and not api.retries else []
    lacking += ["behaviour: {reply: true}"] if consumer.behaviour.reply and not api.replies else []
    by_hand = not consumer.behaviour.auto_commit
    lacking += ["behaviour: {auto_commit: false}"] if by_hand and not api.commits_by_hand else []
    by = consumer.behaviour.by
    dies = by == "exception" and not api.survives_panics
    lacking += [f"by: {by}"] if by not in kind.fails_by or dies else []
    lacking += ["only: …"] if consumer.behaviour.only and not kind.behaves_by_key else []
    by_sql = [topic for topic, how in consumer.subscribe.items() if isinstance(how, SqlExpression)]
    return lacking + [f"subscribe: {{{topic}: {{sql: …}}}}" for topic in by_sql if not api.sql]


def problems(consumer: Consumer) -> Iterator[str]:
    """What can't be meant together."""
    if consumer.app is not None and consumer.jvm_args:
        yield "its program has a JVM of its own: write `app: {jvm_args: …}`"
        return
    reason = consumer.why_not_with(consumer.choice)
    if reason is not None:
        yield reason
        return
    if consumer.beside is not None and consumer.app is not None:
        yield "`beside` says which program it is in: leave out `app`"
    sees = None if consumer.app is None else consumer.app.sees
    if not consumer.subscribe and not consumer.choice.kind.users_program:
        yield "`subscribe` is missing: write `subscribe: {orders: '*'}`, with a topic of yours"
    if sees is not None and sees.by_number and len(consumer.subscribe) != 1:
        yield (
            f"the group `number` of `sees: {{{sees.where}: …}}` is a message's number in its topic, and "
            f"`subscribe` names {'several' if consumer.subscribe else 'none'}: let it tell a `key`, or the "
            "`topic` too"
        )
    if consumer.beside is not None and consumer.process == "own":
        yield "it has a process of its own, and can't be `beside` another one"
    if consumer.beside is not None and consumer.jvm_args:
        yield f"it is in the JVM of {consumer.beside}: leave out `jvm_args` or `beside`"
    for strategy, field in (("by-config", "queues"), ("machine-room", "rooms")):
        if (consumer.strategy == strategy) != (getattr(consumer, field) is not None):
            yield f"`{field}` and `strategy: {strategy}` need each other"
    if consumer.traits.request_mode == "POP" and consumer.consume_from == "timestamp":
        yield "in POP mode a group begins at the `first-offset` or the `last-offset`"
    if consumer.name_servers is not None and consumer.needs_proxy:
        yield "it speaks to the proxy, which asks the name servers for it: leave out `name_servers`"
    if consumer.api != "simple":
        for key, value in (
            ("invisible", consumer.invisible),
            ("await_duration", consumer.await_duration),
            ("behaviour: {change_invisible: …}", consumer.behaviour.change_invisible),
        ):
            if value is not None:
                yield f"`{key}` needs `api: simple`: other consumers leave that to their clients"
    if consumer.account is not None and not consumer.choice.kind.signs:
        yield f"{consumer.choice} signs no requests here: leave out `account`"
    if consumer.behaviour.by == "exception" and consumer.listener not in consumer.traits.survives_panics:
        listener = f"an {consumer.listener} listener of the {consumer.choice.kind.name.capitalize()} client"
        yield f"{listener} that panics ends its process: leave out `by: exception`"
    if consumer.listener == "orderly" and consumer.retry_delay_level is not None:
        yield "an orderly listener retries in place: `retry_delay_level` says nothing to it"
    if consumer.api == "push" and consumer.listener != "orderly" and not consumer.behaviour.auto_commit:
        yield (
            "`auto_commit: false` is for orderly listeners and for applications that poll: add "
            "`listener: orderly`, `api: lite-pull` or `api: pull`"
        )
    yield from outside(consumer.namespace, (consumer.group,), "group")
    yield from outside(consumer.namespace, consumer.subscribe, "topic")
    if consumer.filter_class is not None and set(consumer.expressions.values()) != {"*"}:
        yield "with `filter_class` it subscribes to `*`"
    if consumer.instance is not None and consumer.has_whole_id:
        yield f"`client_id: {consumer.client_id}` says how its id ends: leave out `instance`"
    said = set(consumer.model_copy(update={"settings": {}}).properties) & set(consumer.settings)
    if said:
        yield f"`settings` says `{sorted(said)[0]}`, and another key of the consumer does too: leave one out"
    if consumer.model == "broadcasting":
        given = [
            name
            for name in ("retry_delay_level", "max_reconsume_times")
            if getattr(consumer, name) is not None
        ]
        given += ["strategy"] if consumer.strategy != "average" else []
        if given:
            yield f"broadcasting has neither allocation nor retries: leave out `{'`, `'.join(given)}`"
