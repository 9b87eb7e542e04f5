"""Large scenarios, to be made smaller."""

from __future__ import annotations

import re

from rocketchaos.harness.nightly.document import Document, document_of, text_of
from rocketchaos.harness.nightly.reductions import REDUCTIONS
from rocketchaos.harness.nightly.shrink import is_valid

LARGE = """\
name: nightly-7-1
title: large
description: drawn
marks: [nightly]
cluster: {brokers: [broker-a, broker-b]}
topics:
  orders: {queues: 4}
  bills: {queues: 2}
consumers:
  a: {group: g1, subscribe: {orders: tagA, bills: '*'}, batch_size: 4}
  b: {group: g1, subscribe: {orders: tagB}, behaviour: {fail: 1}, retry_delay_level: 1}
  c: {group: g2, subscribe: {bills: '*'}}
steps:
  - start: [a, b, c]
  - settle: {ownership: g1, within: 90s}
  - settle: {ownership: g2, within: 90s}
  - parallel:
      - - send: {topic: orders, tags: [tagA, tagB], count: 40, every: 50ms}
      - - wait: {duration: 1500ms, because: so long messages flow undisturbed}
        - kill: a
        - start: a
  - settle: {ownership: g1, within: 90s}
  - send: {topic: orders, tag: tagB, count: 32, per_queue: 4}
  - send: {topic: bills, tag: tagA, count: 8, per_queue: 2}
  - settle: {sealed: g1, within: 180s}
  - settle: {sealed: g2, within: 180s}
anomaly:
  - undelivered: {at_least: 1}
healthy:
  - undelivered: {count: 0}
tendency:
  - log: {node: broker-a, matches: 'subscription not exist, group: g1', at_least: 1}
  - log: {node: broker-b, matches: 'subscription not exist, group: g2', at_least: 1}
expected: measured
"""


def large() -> Document:
    return document_of(LARGE, "large")


def candidates(name: str, document: Document | None = None) -> list[Document]:
    return [item for item in REDUCTIONS[name](document or large()) if is_valid(item)]


NETWORK = """\
name: nightly-7-2
title: network
marks: [nightly]
timing: faithful
rocketmq: '>=4.9'
workers: containers
names: as-written
cluster: {brokers: [broker-a, broker-b], broker: {enablePropertyFilter: true}}
topics:
  orders: {queues: 2}
groups: [g3]
consumers:
  a: {group: g1, subscribe: {orders: tagA}}
  b: {group: g1, subscribe: {orders: tagB}}
producer: {client: java@4.9.4}
producers: {p2: {group: shop}}
steps:
  - start: [a, b]
  - parallel:
      - - send: {topic: orders, tag: tagA, count: 40, every: 50ms}
      - - wait: {duration: 1s, because: so long messages flow undisturbed}
        - partition: {between: b, and: [broker-a, broker-b, nameserver]}
        - wait: {duration: 2s, because: how long it lasts}
        - heal: all
  - loss: {between: a, and: broker-a, percent: 20}
  - delay: {of: broker-b, by: 50ms}
  - wait: {duration: 2s, because: how long it lasts}
  - heal: loss
  - heal: {faults: delay, of: broker-b}
  - pause: b
  - wait: {duration: 1s, because: how long it stands still}
  - resume: b
  - pause: b
  - wait: {duration: 2s, because: how long it stands still}
  - resume: b
  - kill: producer
  - wait: {duration: 1s, because: so long nothing is sent}
  - restart: producer
anomaly:
  - undelivered: {at_least: 1}
healthy:
  - undelivered: {count: 0}
expected: measured
"""


def network() -> Document:
    return document_of(NETWORK, "network")


def words(document: Document) -> list[str]:
    return re.findall("- ([a-z-]+):", text_of(document))
