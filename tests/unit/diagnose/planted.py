"""For every check: what a cluster answers where its code must come out, and what is nearly so and must not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rocketchaos.harness.language.tags import hash_code
from tests.unit.diagnose.broker_edits import (
    NAME_SERVERS,
    TAG_A,
    TAG_B,
    V5,
    all_hashes,
    dead_letters,
    ends,
    group_settings,
    in_first_look,
    knows_only,
    last_hashes,
    message_type,
    no_group,
    no_topic,
    not_held,
    offset,
    ordered,
    other_topic,
    pops_on,
    proxy_knows,
    proxy_knows_it,
    removed_queue,
    retry_end,
    route_fields,
    runtime,
    second_name_server,
    second_runs,
    seconds_later,
    settings,
    slave_alone,
)
from tests.unit.diagnose.member_edits import (
    FIRST,
    OTHER,
    STRATEGY,
    all_of_it,
    asking,
    at_one_address,
    by_sql,
    client_property,
    client_version,
    connections,
    held_queues,
    languages,
    listener,
    on_unknown_broker,
    orderly,
    popping_members,
    pulling,
    pulls_at,
    queue_table,
    wants,
    with_queue,
    without_queue,
)
from tests.unit.diagnose.reports import (
    BROKER,
    SECOND,
    Change,
    answers,
    delayed,
    members,
    popped,
    renamed,
    second_broker,
    unanswered,
    undecided,
    with_slave,
)


@dataclass(frozen=True, slots=True)
class Planted:
    """One malady, made of the answers of a healthy group."""

    code: str
    changes: tuple[Change, ...]
    near: tuple[Change, ...]
    looks: int = 1
    """2 s apart."""
    scope: Mapping[str, Any] = field(default_factory=dict)


PLANTED = (
    Planted("RC0101", (wants("tagA", "tagB"),), (wants("tagA||tagB", "tagB || tagA"),)),
    Planted("RC0102", (wants("tagC"),), (wants("tagB || tagB"),), looks=16),
    Planted(
        "RC0105", (client_version(lambda now: now * 1_000_000),), (client_version(lambda now: now + 30_000),)
    ),
    Planted("RC0106", ((307, other_topic),), ((307, no_topic),)),
    Planted("RC0107", (wants("tagA,tagB"),), (wants("tagA || tagB", "tagB||tagA"),)),
    Planted("RC0108", (all_hashes(hash_code("TagB")),), (all_hashes(TAG_B),)),
    Planted(
        "RC0201",
        (connections(lambda known: known.append({**known[0], "clientAddr": "host-9:1"})),),
        (second_broker(),),
    ),
    Planted(
        "RC0202",
        (renamed({FIRST: "host-2@17#101", OTHER: "host-2@17#102"}),),
        (renamed({FIRST: "host-2@17#101", OTHER: "host-2@18#102"}),),
    ),
    Planted("RC0203", (languages("JAVA", "CPP"),), (languages("CPP", "CPP"),)),
    Planted(
        "RC0204",
        (client_property("PROP_CLIENT_VERSION", "V4_9_3", "V5_0_0"),),
        (client_property("PROP_CLIENT_VERSION", "V5"),),
    ),
    Planted(
        "RC0205",
        (client_property("consumeFromWhere", "CONSUME_FROM_FIRST_OFFSET", "CONSUME_FROM_LAST_OFFSET"),),
        (client_property("consumeFromWhere", "CONSUME_FROM_LAST_OFFSET"),),
    ),
    Planted(
        "RC0206",
        (client_property("messageModel", "CLUSTERING", "BROADCASTING"),),
        (client_property("messageModel", "BROADCASTING"),),
    ),
    Planted(
        "RC0207",
        (client_property(STRATEGY, "x.AllocateMessageQueueAveragely@1", "x.AllocateMessageQueueByConfig@2"),),
        (client_property(STRATEGY, "x.AllocateMessageQueueByConfig@1", "x.AllocateMessageQueueByConfig@2"),),
    ),
    Planted(
        "RC0208",
        (unanswered(307, None, clientId=OTHER),),
        (in_first_look(unanswered(307, 1, clientId=OTHER)),),
        looks=2,
    ),
    Planted("RC0209", (knows_only(first=True),), (knows_only(first=False),), looks=15),
    Planted("RC0210", (unanswered(203, 206),), (proxy_knows_it,), scope={"proxies": ("host-8:8080",)}),
    Planted(
        "RC0211",
        (proxy_knows(OTHER),),
        ((203, lambda document: document),),
        looks=2,
        scope={"proxies": ("host-8:8080",)},
    ),
    Planted(
        "RC0212",
        (client_property("PROP_CONSUMEORDERLY", "true", "false"), held_queues(locked=True)),
        (client_property("PROP_CONSUMEORDERLY", "false"),),
    ),
    Planted(
        "RC0213",
        (V5, second_broker(), asking, pops_on(SECOND)),
        (V5, second_broker(), asking, pops_on(BROKER, SECOND)),
    ),
    Planted("RC0214", (popping_members(1),), (popping_members(2),), looks=16),
    Planted("RC0215", (pulls_at(15_000),), (pulls_at(5_000),)),
    Planted("RC0216", (pulling("CONSUME_ACTIVELY"),), (pulling("CONSUME_PASSIVELY"),)),
    Planted(
        "RC0217",
        (V5, message_type("FIFO"), client_property("PROP_CONSUMEORDERLY", "false")),
        (V5, message_type("FIFO"), *orderly(locked=True)),
    ),
    Planted(
        "RC0218",
        (client_property("maxReconsumeTimes", "3", "-1"),),
        (client_property("maxReconsumeTimes", "16", "-1"),),
    ),
    Planted(
        "RC0301",
        (queue_table(lambda table: without_queue(table, 3)),),
        (queue_table(lambda table: with_queue(table, 3)),),
        looks=29,
    ),
    Planted(
        "RC0302",
        (queue_table(lambda table: with_queue(table, 0)),),
        (queue_table(lambda table: with_queue(table, 0, dropped=True)),),
        looks=29,
    ),
    Planted("RC0303", (members(5),), (members(4),)),
    Planted(
        "RC0401", ((105, lambda document: document.update(queueDatas=[])),), (route_fields(perm=2),), looks=15
    ),
    Planted(
        "RC0402",
        ((201, no_group), settings(autoCreateSubscriptionGroup="false")),
        (settings(autoCreateSubscriptionGroup="false"),),
    ),
    Planted(
        "RC0403",
        (route_fields(readQueueNums=4, writeQueueNums=6),),
        (route_fields(readQueueNums=4, writeQueueNums=2),),
    ),
    Planted("RC0404", (route_fields(perm=2),), (route_fields(perm=7),)),
    Planted(
        "RC0405",
        (second_broker(has_topic=False),),
        (second_broker(has_topic=False), settings(autoCreateTopicEnable="false")),
    ),
    Planted(
        "RC0406", (group_settings(consumeEnable=False),), (group_settings(consumeBroadcastEnable=False),)
    ),
    Planted(
        "RC0407",
        (by_sql, settings(enablePropertyFilter="false")),
        (by_sql, settings(enablePropertyFilter="true")),
    ),
    Planted("RC0408", (removed_queue(9),), (removed_queue(3),)),
    Planted("RC0409", (ordered("broker-1:4;broker-7:2"),), (ordered("broker-1:4"),)),
    Planted(
        "RC0410",
        (second_broker(has_topic=False), settings(autoCreateTopicEnable="false")),
        (second_broker(), settings(autoCreateTopicEnable="false")),
        looks=15,
    ),
    Planted("RC0501", offset(lambda _look: 1), offset(lambda look: 1 + look // 10), looks=17),
    Planted("RC0503", offset(lambda look: 5 - look), offset(lambda look: (3, 5, 6)[look]), looks=3),
    Planted(
        "RC0504",
        offset(lambda look: look, lambda look: 3 + 2 * look),
        offset(lambda look: 2 * look, lambda look: 40 + look),
        looks=17,
    ),
    Planted(
        "RC0505",
        (*offset(lambda _look: 1), ends(minOffset=3)),
        (*offset(lambda _look: 3), ends(minOffset=3)),
    ),
    Planted("RC0506", offset(lambda _look: 100), offset(lambda _look: 9)),
    Planted(
        "RC0507",
        (*offset(lambda _look: 2, lambda _look: 4), last_hashes(TAG_A, TAG_A)),
        (*offset(lambda _look: 2, lambda _look: 4), last_hashes(TAG_A, TAG_B)),
    ),
    Planted(
        "RC0508",
        ((307, no_topic), (203, not_held), *offset(lambda _look: 5)),
        ((307, no_topic), (203, not_held), *offset(lambda _look: 9)),
    ),
    Planted(
        "RC0509",
        (*all_of_it(0.1), *offset(lambda look: 9 if look < 2 else 100, lambda _look: 100)),
        (*all_of_it(2), *offset(lambda look: 9 if look < 2 else 100, lambda _look: 100)),
        looks=14,
    ),
    Planted("RC0601", (listener(1),), (listener(0.4),)),
    Planted("RC0602", (listener(20),), (listener(14),)),
    Planted("RC0603", orderly(locked=False), orderly(locked=True), looks=44),
    Planted("RC0701", (retry_end(3),), (retry_end(0),), looks=3),
    Planted("RC0702", (dead_letters(2),), (dead_letters(0),)),
    Planted(
        "RC0703",
        (client_property("maxReconsumeTimes", "0", "16"),),
        (client_property("maxReconsumeTimes", "-1", "1"),),
    ),
    Planted("RC0704", (group_settings(retryQueueNums=0),), (group_settings(retryQueueNums=1),)),
    Planted("RC0705", (group_settings(retryQueueNums=2),), (group_settings(retryQueueNums=1),)),
    Planted(
        "RC0801",
        (second_name_server(lambda body: body.replace('"readQueueNums": 4', '"readQueueNums": 2')),),
        (second_name_server(lambda body: body),),
        looks=2,
        scope={"name_servers": NAME_SERVERS},
    ),
    Planted("RC0802", (second_broker(), (106, at_one_address)), (second_broker(),)),
    Planted("RC0803", (unanswered(28, None),), (unanswered(201, None),)),
    Planted("RC0804", (runtime(commitLogDiskRatio="0.8"),), (runtime(commitLogDiskRatio="0.74"),)),
    Planted("RC0805", (seconds_later(60),), (seconds_later(5),)),
    Planted("RC0806", (second_runs("V5_3_0"),), (second_broker(),)),
    Planted("RC0807", (on_unknown_broker(dropped=False),), (on_unknown_broker(dropped=True),), looks=2),
    Planted("RC0808", ((106, slave_alone),), (in_first_look(answers(106, slave_alone)),), looks=16),
    Planted(
        "RC0809", (settings(brokerRole="SYNC_MASTER"),), (settings(brokerRole="ASYNC_MASTER"),), looks=16
    ),
    Planted(
        "RC0810",
        (with_slave(lambda _look: 1000, lambda _look: 600),),
        # Busy: the slave is a moment behind.
        (with_slave(lambda look: 1000 * (look + 1), lambda look: 1000 * look + 999),),
        looks=16,
    ),
    Planted("RC0811", (delayed(-600_000),), (delayed(-5_000),), looks=16),
    Planted("RC0812", (delayed(60_000),), (delayed(60_000, waiting=0),)),
    Planted("RC0813", (undecided(1, connected=False),), (undecided(0, connected=True),)),
    Planted("RC0814", (V5, popped(300_000)), (V5, popped(20_000)), looks=16),
    Planted(
        "RC0815",
        (with_slave(lambda _look: 1000, lambda _look: 1000, slave_offset=lambda _look, _offset: None),),
        (with_slave(lambda _look: 1000, lambda _look: 1000),),
        looks=42,
    ),
)
