"""What the tests of users' images run: the program of an image, and scenarios with it."""

from __future__ import annotations

RUN = """\
#!/bin/sh
echo "config $(cat "$CONFIG")"
java="java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
[ "$WRAPPED" ] || exec $java -cp "/shop:$ROCKETMQ_HOME/lib/*" Wayward "$NAMESRV" "${1:-$MODE}"
$java -cp "/shop:$ROCKETMQ_HOME/lib/*" Wayward "$NAMESRV" "$MODE"
"""
DOCKERFILE = """\
FROM {base}
COPY classes/ /shop/
COPY run /shop/run
ENV MODE={mode} SHOP=image
ENTRYPOINT ["/shop/run"]
CMD []
"""
SCENARIO = """\
name: own
title: a container of the user's own
topics: {orders: {queues: 4}}
consumers:
  a:
    group: g
    subscribe: {orders: tagA}
    app:
      image: IMAGE
      args: [ARGS]
      sees: {log: 'got (?P<key>\\S+)'}
      env: {NAMESRV: $nameserver, CONFIG: $files/service.conf, WRAPPED: 'WRAPPING'}
      files: {service.conf: service.template}
      ready: READY
      ready_within: WITHIN
steps:
  - start: a
  - settle: {ownership: g, within: 60s}
  - settle: {subscription: g, topic: orders, within: 60s}
STEPS
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 4}}]
"""
ROLLING = """\
name: own
title: a rolling deployment that changes the tag
topics: {orders: {queues: 4}}
consumers:
  v1:
    group: g
    subscribe: {orders: tagA}
    app:
      image: rocketchaos-tests/shop:1.3
      sees: {log: 'got (?P<key>\\S+)'}
      env: {NAMESRV: $nameserver}
  v2:
    group: g
    subscribe: {orders: tagB}
    app:
      image: rocketchaos-tests/shop:1.4
      sees: {log: 'got (?P<key>\\S+)'}
      env: {NAMESRV: $nameserver}
steps:
  - start: v1
  - settle: {ownership: g, within: 60s}
  - start: v2
  - settle: {ownership: g, within: 60s}
  - settle: {subscription: g, topic: orders, within: 60s}
  - send: {topic: orders, tags: [tagA, tagB], count: 16, per_queue: 4}
  - settle: {offsets: g, topic: orders, lag: 0, within: 120s}
anomaly: [{undelivered: {at_least: 4}}]
healthy: [{delivered: {to: g, count: 16}}]
expected: reproduced
"""
SEEN = {
    "writes": "{topic: handled}",
    "serves": '{http: "http://$host:8080/handled"}',
    "traces": "{trace: true}",
}
"""By mode of the program: how it is seen."""
MEMBER = """\
  MODE-NUMBER:
    group: of-MODE
    subscribe: {orders: tagA}
    app:
      image: rocketchaos-tests/shop:1.3
      args: [MODE]
      sees: SEEN
      env: {NAMESRV: $nameserver, GROUP: of-MODE, PORT: 8080}
"""
TOLD = """\
name: own
title: members of three groups that write, list or trace what they have handled
topics: {orders: {queues: 4}, handled: {queues: 4}}
consumers:
MEMBERS
steps:
  - start: [writes-1, serves-1, traces-1]
  - start: [writes-2, serves-2, traces-2]
  - settle: {ownership: of-writes, within: 60s}
  - settle: {ownership: of-serves, within: 60s}
  - settle: {ownership: of-traces, within: 60s}
  - send: {topic: orders, tag: tagA, count: 16, per_queue: 4}
  - settle: {offsets: of-writes, topic: orders, lag: 0, within: 120s}
  - settle: {offsets: of-serves, topic: orders, lag: 0, within: 120s}
  - settle: {offsets: of-traces, topic: orders, lag: 0, within: 120s}
anomaly: [{undelivered: {at_least: 1}}]
healthy:
  - delivered: {to: of-writes, count: 16}
  - delivered: {to: of-serves, count: 16}
  - delivered: {to: of-traces, count: 16}
expected: not-reproduced
"""
