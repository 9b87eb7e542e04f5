"""A run's history, read: who was sent what, who got it, what was observed when. Pure.

Kinds of events that it reads, and their data (names as the scenario has them):

=====================  =============================================================================
`run-started`          timing; rocketmq and client: the cell of the matrix, which older histories lack
`send-invoked`         topic, key, tag
`sent`                 topic, key, tag, broker, queue_id, queue_offset, msg_id, offset_msg_id, status; where
                       it has any keys, properties
`received`             topic, key, tag, broker, queue_id, offset, reconsume_times; node: the consumer
`consumed`             key, status; node: the consumer
`topic-created`        topic, real: its name at the brokers, queues
`request-mode-set`     group, topic, mode, brokers: these hand the topic out to the group in this mode, POP
`consumer-starting`    subscribe {topic: tags | {sql}}; node: the consumer
`consumer-started`     client_id, pid, process: `own`, or `shared` with other clients; client, api and what
                       follows from them, as fields of `harness.rocketmq.client_kinds.Api`; node: the consumer
`consumer-refused`     error, code: its client's start() threw; node: the consumer
`subscribed`           topic, expression: tags | {sql}; a running consumer did; node: the consumer
`unsubscribed`         topic; a running consumer did; node: the consumer
`blocked`              key; the listener holds on to it; node: the consumer
`listener-released`    node: the consumer
`consumer-stopping`    its shutdown begins, by a request or by SIGTERM; node: the consumer
`consumer-stopped`     node: the consumer
`fault-effective`      fault, target; of a fault between two ends target tells both, and sides [both]
`bound`                variable, consumers
`subscription-observed`  group, broker, online, clients, addresses of their connections in the same order,
                       subscriptions {topic: {expression, type, codes, ..}}, consume_from_where, message_model:
                       the group's; None where nobody is online
`ownership-observed`   group, consumer, queues [{topic, broker, queue_id}], subscriptions
`offsets-observed`     group, topic, queues [{broker, queue_id, max_offset, consumer_offset}]
`consumer-status-observed`  group, alike: the members' subscriptions by RocketMQ's own tools, members
`tracks-observed`      topic, key, tracks {group: type}
`dashboard-tracks-observed`  topic, key, tracks {group: type}: every entry that the dashboard shows, be it a
                       group of the scenario or not; why {group: text}: what kept it from saying more
`dashboard-connections-observed`  group, clients, subscriptions {topic: {expression, type, sub_version}},
                       consume_from_where, message_model; error: what it shows instead, else None
`dashboard-progress-observed`  group, topics {topic: [{broker, queue_id, max_offset, consumer_offset, owner}]};
                       error
`pull-counts-observed` consumer, topic, found_pulls, passed_messages
`dead-letters-observed` group, count: messages in `%DLQ%<group>`
`heartbeat-sent`       client_id, group, brokers, subscriptions {topic: {expression, sub_version}},
                       consume_from_where, message_model; node: the hand-made client
`notified`             broker, group: the broker says that the group has changed (40); node: the hand-made client
`hand-made-closed`     client_id: its connections end; node: the hand-made client
`pulled`               a raw pull and its answer: name, group, topic, broker, queue_id, offset, with, code,
                       status, remark, next_offset, min_offset, max_offset, messages, keys, took_ms
`asked`                a raw request and its answer: name, of: the node, request, code, status, remark, fields,
                       text: the body
`client-pulled`        a pull by a consumer's own client: name, topic, broker, queue_id, offset, status:
                       a PullStatus, next_offset, messages; or error, code; node: the consumer
`pull-refused`         a pull that a broker made by hand refused: name, group, topic, status
`offsets-reset`        group, topic, queues [{broker, queue_id, offset}]
`broker-configured`    broker, set {key: value}, before {key: value}
`files-expired`        broker, topic, min_offsets_before {queue_id: offset}, min_offsets
`log-line`             of: node or consumer, pattern, time, text: a line of its log that a check asks for
`log-observed`         of, pattern, count: lines since the run's beginning
`moment-observed`      moment: everything with this `moment` in its data was read by here; in a `repeat`, and where
                       the end was put off, also name, iteration: the last one counts as `name` too
=====================  =============================================================================
"""

from __future__ import annotations

from rocketchaos.assertions.fault_view import FaultView
from rocketchaos.assertions.member_view import MemberView
from rocketchaos.assertions.message_view import Delivery, MessageView, Sent
from rocketchaos.assertions.queues import owned_queues, queue_name

__all__ = ["Delivery", "RunView", "Sent", "owned_queues", "queue_name"]


class RunView(MessageView, MemberView, FaultView):
    """The history of one run of `scenario`, by what the checks ask for."""
