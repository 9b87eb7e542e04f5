"""How the harness and a worker process talk: JSON lines, one way in, one way out.

In, on the worker's standard input, one command a line::

    {"id": 7, "do": "start-consumer", "with": {...}}

Out, on a pipe of its own (`--events-fd`), one event a line, each a single write, with the worker's clocks::

    {"mono_ns": 1, "wall_ms": 2, "kind": "received", "data": {...}}
    {"mono_ns": 1, "wall_ms": 2, "kind": "reply", "data": {"id": 7, "ok": true, "result": {...}}}
    {"mono_ns": 1, "wall_ms": 2, "kind": "reply", "data": {"id": 7, "ok": false, "error": "...",
     "code": 206, "exceptions": ["MQClientException"], "defect": false}}

The first event is `ready`. Standard output and error carry what JVMs and native libraries print; they go
into the run's logs and are never parsed. (In a container the pipe leaves as standard output, and what is
printed as standard error: `harness.workers.attachment`.) Commands may be answered out of order. A worker ends,
without goodbyes to RocketMQ, when its standard input closes. On SIGTERM it shuts its clients down in good order,
as an application with a shutdown hook does, and ends with exit code 143. Topics and groups are RocketMQ's real
names here.

`code` is RocketMQ's response code, or null where there is none (a connection refused, for one). `exceptions` are
the classes of what the client threw, outermost first. `defect`
says that the worker failed where it should not have: an unknown command, an exception in its own code, of which
the `traceback` is there then too.

Commands of the `java` worker
-----------------------------
One process may hold clients of many runs; their `name` is `<run>:<name>` then, also in events (`consumer`).

`nameserver` is `host:port`, of several name servers with `;` between them.

`start-consumer` with `name, group, nameserver, client_ip, instance, subscribe {topic: tags | {sql}},
settings {property: value}`, and optionally `api` (push), `model` (clustering), `listener` (concurrent),
`consume_from` (first-offset), `strategy {name, queues, rooms}` (average; `queues` of by-config as `{topic, broker,
id}`), `behaviour {fail, by, block, slow_ms, only, reply, auto_commit, commit}` and `retry_delay_level` (0), with
values as scenarios have them (`harness.language.consumer_spec`); answers
`{client_id, versions {topic: subVersion}}` when
`DefaultMQPushConsumer.start()`, or that of DefaultLitePullConsumer, has returned; the versions are those before
its start, none where the client doesn't show them. The listener takes `slow_ms` for each message, then blocks on
those whose key is in `block` (a list, or `all`) until `release-listener`, and fails those whose reconsume_times
is below `fail`: RECONSUME_LATER instead of CONSUME_SUCCESS, orderly SUSPEND_CURRENT_QUEUE_A_MOMENT instead of
SUCCESS; with `by` (status) `exception` or `nothing`, the `java` worker's throws, or returns null, instead,
with `retry-later` an orderly listener of the `go` worker returns ConsumeRetryLater, and with `exception` a
concurrent one panics, after a `consumed` with the status PANIC.
With `only`, a list, it fails and is slow on the messages with these keys alone.
With `auto_commit` false an orderly listener of the `java` worker calls setAutoCommit(false), and returns COMMIT
for the messages whose key is in `commit` (a list, or `all`); one that is polled commits after those alone.
One that fails fails its whole batch. `retry_delay_level` is ConsumeConcurrentlyContext's, where 0
leaves the delay to the broker (10 s the first time) and 1 is 1 s. `api` is `push`, `pop` (the same in POP mode,
which `raw` 401 has set on the brokers before), `lite-pull` or `pull`; the last two
are polled by a thread and have no retries.
With `namespace` the client puts that before its group and topics, which come without it.
With `access {access_key, secret_key}` the client signs its requests; for the `java` worker it has `jars` too, with
AclClientRPCHook.
With `filter_class` it subscribes in class filter mode, by that class; with `offsets_of_host` a broadcasting one
keeps its offsets in a folder that all processes of the run with this setting share.
`stop-consumer` with `name`: graceful shutdown; a listener that blocks ends without a report.
`subscribe` with `name, topic, expression: tags | {sql}`: on the running client. Refused for `pull`.
`unsubscribe` with `name, topic`: on the running client. Refused for `pull`.
`seek` with `name, topic, queue {broker, queue_id}|null, to` (an offset, `begin` or `end`): `{queues}`, those whose
position the client has moved; null: all that it has of the topic. For `lite-pull` alone.
`suspend-consumer` and `resume-consumer` with `name`: the client pulls no more, and pulls again. Only of a client
whose trait `suspends` says that it can.
`release-listener` with `name`: it blocks no more.
`assignment` with `name`: `{queues: [{topic, broker, queue_id}]}`, as the client itself knows them; id -1, which
consumers in POP mode have, stands for all queues of the broker. A client may tell all that `running-info` does.
`running-info` with `name`: what the client itself answers to 307, as `running-info` of the `admin` worker has it.
`pull-counts` with `name, topic`: `{found_pulls, passed_messages}` from the client's own ConsumerStatsManager:
pulls that the broker answered with FOUND, also those of which the client's tag filter left nothing, and
messages that passed that filter; of a consumer in POP mode its pops. Refused for `lite-pull` and `pull`, which
count nothing.
`pull-once` with `name, topic, broker, queue_id, offset, expression`, for `pull` alone: `{status, next_offset,
messages}`, a PullStatus, or `{status: null, error, code|null}` where the client throws.
`start-producer` with `name, group, nameserver, client_ip, instance`, and optionally `poll_name_server_ms`,
`settings`, `namespace` and `access`: `{client_id}`. Fetches no routes.
`stop-producer` with `name`: graceful shutdown.
`producer-route` with `name, topic`: `{known, brokers {name: address}}`, those to which the client could send right
now; not known: it has not asked for the topic yet, and will with the first message.
`send` with `name, topic, tag|null, key|null, body (text), queue {broker, id}|null, timeout_ms`, and optionally
further `keys [..]` and `properties {..}`: `{status, broker, queue_id, queue_offset, msg_id, offset_msg_id}`. Never
retried; one at a time for each producer, so that they go round where no queue is given. `msg_id` is the message's
UNIQ_KEY. Only clients whose `sends` have that get `hash_key` (text whose hash chooses the queue), `batch [{tag,
key, keys?, body?}]` (further messages of the same request) and `how {delay_level, delay_ms, oneway, async,
request_ms, transaction}`. With `async` several are under way, and each answer comes with its callback. With
`request_ms` it is a request, and the events `request-answered` with `consumer, key, topic, got, text|error, code,
exceptions` tell what the producer gets for it. A producer whose start
was refused stays, and refuses to send.
`recall` with `name, topic, key`: takes back the message with this key, which this producer has sent with
`delay_ms`: `{msg_id}`. Only of a client whose trait `recalls` says that it can.

Events of consumers, one a message: `received` with `consumer, topic, tag, key, keys, msg_id, offset_msg_id,
broker, queue_id, offset, reconsume_times, batch` when the listener gets it, as one of `batch` messages;
`blocked` with `consumer, key, msg_id, offset_msg_id` when it blocks on it; `consumed` with `consumer, key,
msg_id, offset_msg_id, status` when the listener returns, the status POLLED for what was polled or pulled. `key`
is the first of the message's keys, `keys` are the others. `topic` is the original topic also for retried
messages; their `broker, queue_id, offset` and `offset_msg_id` are those of the copy in the retry topic,
`msg_id` is the original's. A retry of an orderly consumer is no copy. `replied` with `consumer, key,
msg_id, offset_msg_id, status`, or `reply-refused` with `error, code, exceptions` in place of the status: what
became of its reply.
`listener-error` with `consumer, error`: the listener itself failed (a defect); RocketMQ gets a failure.

Commands of the `python` worker
-------------------------------
The same, as far as the C++ client's C API goes. These are refused: other `settings` than
consumeThreadMin and consumeThreadMax, SQL, `subscribe`, `unsubscribe`, `assignment`, `pull-counts`,
`running-info`, `producer-route`. `client_id` is `pid-address@client_ip-instance`, since the C++ client puts its
pid and its own address first. A failing listener has the whole pull come again, of which some may have succeeded.
`stop-consumer` has a listener that blocks fail, so that the message comes again as a retry. `send` takes `how
{delay_level}`, chooses
the queue itself, by the name server's route; its `offset_msg_id` is read from the broker, and null where that
doesn't tell.

Commands of the `grpc` worker
-----------------------------
The same, and also `endpoint` (the proxy's, `host:port`), with `api` push or simple. A simple consumer is asked
by a thread, and acks what succeeds; `invisible_ms` (15000) is its invisibleDuration, `await_ms` (20000) its
awaitDuration, and with `behaviour {change_invisible_ms}` it calls changeInvisibleDuration for each message
first. `model, listener, consume_from, strategy, retry_delay_level` say nothing to it; `assignment`,
`running-info` and `pull-counts` are refused. `status` is CONSUME_SUCCESS, or RECONSUME_LATER for FAILURE and for
messages without an ack. `offset_msg_id` is null. `send` takes `how {delay_ms}`, a delay in whole seconds.
It refuses a `queue`, and answers null for `broker, queue_id` and `offset_msg_id`: the proxy doesn't tell them.

Commands of the `go` worker
---------------------------
The same, except for `producer-route`, `api` other than push, and of `how` a delay in ms and transactions. They are
refused, and so are other
`settings` than maxReconsumeTimes, consumeMessageBatchMaxSize, consumeThreadMin, consumeThreadMax (goroutines of
each topic), pullThresholdForQueue and pullInterval. `client_id` is `address@client_ip-instance`, since nobody can
set the address, and `address@pid` with the instance DEFAULT. `subscribe` tells the brokers with the next
heartbeat, 30 s apart. Its consumer refuses to start where a topic has no route. Of the `settings` of a producer it
takes retryTimesWhenSendFailed (WithRetry); sendMsgTimeout is the `timeout_ms` of each `send`.

Commands of the `admin` worker
------------------------------
None joins a consumer group.

`connect` with `nameserver, instance`: starts DefaultMQAdminExt. Comes first; once per worker. There is one for
each of several name servers, with `;` between them: an answer of any counts.
`consumer-status` with `group, broker_address`: `{alike, members: [client_id]}`, as `mqadmin consumerStatus`
compares them. `tracks` with `topic, offset_msg_id` (DefaultMQAdminExt.messageTrackDetail):
`{tracks: [{group, type, exception|null}]}`. `mqadmin` with `arguments, limit_s`, and optionally `access
{access_key, secret_key}`: `{exit_code|null, output, seconds}`, run in a JVM of its own. `raw` with `address,
code, fields {..}, body|null, timeout_ms`: `{code, remark, fields, body, body_base64}`. A request's body is text.
An answer's body is in `body` where it is UTF-8, otherwise in `body_base64` (messages of a pull); the other is
null, and both are where there is none. Any code is an answer, no error.

`ping`: `{}`. Every worker answers it.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any


class CommandFailed(Exception):
    """What RocketMQ or the network refused; `code` is RocketMQ's response code, where it gave one.

    `exceptions` are the classes of what the client threw, the outermost first; none where the worker refuses.
    """

    def __init__(self, message: str, code: int | None = None, exceptions: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.exceptions = tuple(exceptions)


def event_line(kind: str, data: Mapping[str, Any]) -> bytes:
    """One event, stamped now, as the line that goes through the pipe.

    Raises:
        TypeError, ValueError: the data is no JSON.
    """
    event = {
        "mono_ns": time.monotonic_ns(),
        "wall_ms": time.time_ns() // 1_000_000,
        "kind": kind,
        "data": data,
    }
    return (json.dumps(event, ensure_ascii=False) + "\n").encode()


Handler = Callable[..., Mapping[str, Any] | None]
COMMANDS_AT_ONCE = 32
"""A command may wait for RocketMQ, while other runs' commands must not; threads are made where they are needed."""
TERMINATED = 128 + signal.SIGTERM
"""The exit code of a worker that SIGTERM has ended, as that of a JVM."""
_READ_BYTES = 65536
_LAST_ANSWERS_S = 1.0
"""How long commands may take once all clients are shut down, so that a message under way gets its answer."""


class EventPipe:
    """The worker's way out: one event a line, each a single write."""

    def __init__(self, fd: int) -> None:
        # Whatever this process may start must not keep the pipe open after its death.
        os.set_inheritable(fd, False)
        self._fd = fd
        self._lock = threading.Lock()

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        """Write one event, stamped now.

        Raises:
            TypeError, ValueError: the data is no JSON.
            BrokenPipeError: the parent is gone.
        """
        self.write(event_line(kind, data))

    def write(self, line: bytes) -> None:
        """Write a line that `event_line` made."""
        with self._lock:
            while line:
                line = line[os.write(self._fd, line) :]

    def close(self) -> None:
        """Before the end: a line that is being written is written to its end, and no other one begins."""
        self._lock.acquire()


class _Terminated(Exception):
    """SIGTERM has come."""


def _nothing() -> None:
    """What a worker without clients shuts down."""


def serve(
    events: EventPipe,
    handlers: Mapping[str, Handler],
    *,
    shut_down: Callable[[], None] = _nothing,
) -> None:
    """Answer commands from standard input until it closes, `COMMANDS_AT_ONCE` at a time; `ping` is built in.

    SIGTERM ends the process once `shut_down` has returned, which must not raise. To be called in the main thread,
    after a JVM has started: that has a handler of its own.
    """
    pool = ThreadPoolExecutor(COMMANDS_AT_ONCE, thread_name_prefix="command")
    under_way: set[Future[None]] = set()
    signals = _signals()
    events.emit("ready", {"pid": os.getpid()})
    try:
        for line in _commands(signals):
            answer = pool.submit(_answer, events, {"ping": ping, **handlers}, json.loads(line))
            under_way.add(answer)
            answer.add_done_callback(under_way.discard)
    except _Terminated:
        shut_down()
        wait(frozenset(under_way), _LAST_ANSWERS_S)
        events.close()
        # The clients' threads would hold up an orderly end.
        os._exit(TERMINATED)


def _signals() -> int:
    """A file descriptor from which each SIGTERM that comes from now on can be read, and which does nothing else.

    Not an exception of the handler: where the signal comes just before the main thread waits for its input, or to
    another thread, nothing would wake that up.
    """
    came, note = os.pipe()
    os.set_blocking(note, False)
    signal.set_wakeup_fd(note, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, lambda *_: None)
    return came


def _commands(signals: int) -> Iterator[bytes]:
    """The lines of standard input, until it closes.

    Raises:
        _Terminated: SIGTERM has come.
    """
    begun = b""
    commands = sys.stdin.fileno()
    with selectors.PollSelector() as selector:
        for source in (commands, signals):
            selector.register(source, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select()}
            if signals in ready and signal.SIGTERM in os.read(signals, _READ_BYTES):
                raise _Terminated
            if commands in ready:
                read = os.read(commands, _READ_BYTES)
                if not read:
                    return
                *lines, begun = (begun + read).split(b"\n")
                yield from lines


def _answer(events: EventPipe, handlers: Mapping[str, Handler], command: Mapping[str, Any]) -> None:
    events.write(reply_line(handlers, command))


def reply_line(handlers: Mapping[str, Handler], command: Mapping[str, Any]) -> bytes:
    """Do what the command says, and tell how it went, as the line of an event `reply`."""
    reply: dict[str, Any] = {"id": command["id"], "ok": True}
    try:
        if command["do"] not in handlers:
            raise LookupError(f"this worker has no command `{command['do']}`")
        reply["result"] = handlers[command["do"]](**command.get("with", {})) or {}
        return event_line("reply", reply)
    except CommandFailed as error:
        failed = _failed(command, str(error), error.code, defect=False)
        return event_line("reply", {**failed, "exceptions": error.exceptions})
    except Exception as error:  # whatever it is, the parent must hear of it
        reply = _failed(command, f"{type(error).__name__}: {error}", None, defect=True)
        # A worker that runs share outlives them, and its log isn't theirs.
        reply["traceback"] = traceback.format_exc()
        return event_line("reply", reply)


def _failed(command: Mapping[str, Any], error: str, code: int | None, *, defect: bool) -> dict[str, Any]:
    return {"id": command["id"], "ok": False, "error": error, "code": code, "defect": defect}


def ping() -> None:
    """Answered with `{}`."""
