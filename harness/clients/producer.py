"""The producer of a run."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from rocketchaos.harness.clients.filled import filled
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect, RequestFailed
from rocketchaos.harness.core.events.messages import (
    ProducerRefused,
    SendAccepted,
    SendFailed,
    SendInvoked,
    Sent,
)
from rocketchaos.harness.core.history import History
from rocketchaos.harness.language.namespace import inside
from rocketchaos.harness.language.producer_spec import PRODUCER
from rocketchaos.harness.language.sending import ASYNC, UNDER_WAY
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.rocketmq.properties import Value
from rocketchaos.harness.workers.in_process import InProcess
from rocketchaos.harness.workers.lease import WorkerProcess

START_LIMIT_S = 30.0
END_LIMIT_S = 30.0
SEND_TIMEOUT_MS = 3_000


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A message that a broker has acknowledged."""

    key: str
    topic: str
    broker: str
    queue_id: int
    queue_offset: int
    msg_id: str
    """Its unique id, from the producer's client."""
    offset_msg_id: str
    """Where it is stored, from the broker."""


@dataclass(slots=True)
class Sendings:
    """What all producers of a run have sent: the numbers of a topic's messages go through all of them."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    """Branches of a `parallel` may send at the same time."""
    numbers: dict[str, int] = field(default_factory=dict)
    on_their_way: list[tuple[str, dict[str, Any], str]] = field(default_factory=list)
    """Producer, message and `msg_id` of what was accepted, and isn't in its queue yet."""
    acknowledged: list[Acknowledged] = field(default_factory=list)


class Producer(InProcess):
    """Sends one message at a time; never sends again what was not acknowledged."""

    def __init__(
        self,
        *,
        name: str = PRODUCER,
        group: str | None = None,
        sendings: Sendings | None = None,
        history: History,
        spawn: Callable[[], WorkerProcess],
        real: Callable[[str], str],
        servers: Callable[[], Mapping[str, Any]],
        locate: Callable[[str, str], Mapping[str, Any]],
        find: Callable[[str, str], Mapping[str, Any] | None],
        transactional: bool = False,
        client_ip: str = "",
        instance: str,
        poll_name_server_ms: int | None = None,
        settings: Mapping[str, Value] = MappingProxyType({}),
        namespace: str | None = None,
    ) -> None:
        """
        Args:
            name: its name in steps and in the history.
            group: its producer group, by the scenario's name; None: its own name.
            sendings: those of all producers of the run; None: it is the only one.
            history: where every sending is written down.
            spawn: begins the process in which the client lives.
            real: the real name of a topic or group.
            servers: how the client reaches them, as `start-producer` names them.
            locate: where a message lies, by its topic's real name and its `msg_id`, for clients that don't
                learn it.
            find: the same, once; None if it isn't there.
            transactional: it sends transactions too.
            client_ip: the first part of its client id; empty: its name.
            instance: of the run.
            poll_name_server_ms: how often the client asks for routes; None: RocketMQ's own 30 s.
            settings: properties of the client, by RocketMQ's own names.
            namespace: of the client; topics and its group have it before their names.
        """
        self._history = history
        self._spawn = spawn
        self._worker: WorkerProcess | None = None
        self._real = real
        self._servers = servers
        self._locate = locate
        self._find = find
        self._transactional = transactional
        self._client_ip = client_ip or name
        self._instance = instance
        self._poll_name_server_ms = poll_name_server_ms
        self._settings = settings
        self._namespace = namespace
        self.name = name
        self._group = group or name
        self._sendings = Sendings() if sendings is None else sendings
        self.paused = False
        self._running = False
        self._pauses = 0
        """How often it was paused so far."""
        self._ended: list[WorkerProcess] = []
        """Processes that steps have ended."""

    @property
    def acknowledged(self) -> list[Acknowledged]:
        """The messages that brokers have acknowledged to any producer of the run, in order."""
        return self._sendings.acknowledged

    @property
    def alive(self) -> bool:
        """Whether its process runs, or is paused."""
        return self._worker is not None and self._worker.alive

    @property
    def _process(self) -> WorkerProcess:
        if self._worker is None:
            raise HarnessDefect("the producer has no process")
        return self._worker

    def prepare(self) -> None:
        """Begin its process, which needs no cluster to become ready; another one where a step has ended it."""
        # Another thread may be sending: at no moment is there none.
        if self._worker is None or self._worker in self._ended:
            self._worker = self._spawn()

    def start(self) -> None:
        """Start the client, in a new process if the old one has ended. Returns when its own `start()` returns."""
        self.prepare()
        self._process.wait_ready(START_LIMIT_S)
        self._process.request(
            "start-producer",
            START_LIMIT_S,
            name=self.name,
            group=self._named(self._group),
            **self._servers(),
            client_ip=self._client_ip,
            instance=self._instance,
            poll_name_server_ms=self._poll_name_server_ms,
            **({"settings": self._settings} if self._settings else {}),
            **({"transactional": True} if self._transactional else {}),
            **({} if self._namespace is None else {"namespace": self._namespace}),
        )
        self._running = True

    def refused(self, refusal: RequestFailed) -> None:
        """RocketMQ has refused its start: write that down. Its client stays, and refuses to send."""
        said = ProducerRefused(error=refusal.message, code=refusal.code, exceptions=tuple(refusal.exceptions))
        self._history.append(self.name, said)
        self._running = True

    def _named(self, name: str) -> str:
        """The real name of a topic or group as its client's program has it, which is without the namespace."""
        return inside(self._namespace, self._real(name))

    def kill(self) -> None:
        """SIGKILL its process. A sending that is under way fails, and so does every other until it is started."""
        self._will_end()
        self._process.kill()

    def terminate(self) -> None:
        """SIGTERM to its process, which shuts the client down and ends; see `wait_terminated`.

        Sends fail from now on until it is started. A send that is under way may fail too.
        """
        self._will_end()
        self._process.terminate()

    def wait_terminated(self) -> None:
        """Return when its process has ended by itself.

        Raises:
            PreconditionNotMet: it doesn't end within 30 s, or something else has ended it.
        """
        self._process.wait_terminated(END_LIMIT_S)

    def end(self) -> None:
        """Shut the client down, and end its process."""
        self._will_end()
        self._process.stop(END_LIMIT_S)

    def _will_end(self) -> None:
        self._running = self.paused = False
        self._ended.append(self._process)

    def pause(self) -> None:
        """Let its process stand still."""
        self.paused = True
        self._pauses += 1
        self._process.pause()

    def resume(self) -> None:
        """Let its process go on."""
        self._process.resume()
        self.paused = False

    def routed_brokers(self, topic: str) -> Mapping[str, str] | None:
        """The brokers of a topic to which the client could send now, with their addresses.

        None: it hasn't asked for its route yet.
        """
        answer = self._process.request(
            "producer-route", START_LIMIT_S, name=self.name, topic=self._real(topic)
        )
        brokers: Mapping[str, str] = answer["brokers"]
        return brokers if answer["known"] else None

    def send(
        self,
        topic: str,
        tags: Sequence[str | None],
        queue: Queue | None,
        *,
        keys: Sequence[str] = (),
        properties: Mapping[str, str] = MappingProxyType({}),
        how: Mapping[str, Any] = MappingProxyType({}),
        body: str | None = None,
        hash_key: str | None = None,
    ) -> str:
        """Send one message, or a batch, to `queue`, by `hash_key`, or in turn; empty if that is acknowledged, or
        why it isn't.

        `tags` are those of the messages; `keys` come behind the key that each of them gets here; `how` is as
        `harness.language.sending` has it. `body` is the text; None: its key. In `body`, `keys` and `hash_key`,
        `$key` and `$number` stand for the message's, of each message in a batch.

        Writes `send-invoked`, then `sent`, `send-accepted` or `send-failed` into the history. What was not
        acknowledged may still have been stored: its fate is open.
        """
        messages = [self._numbered(topic, tag, keys, properties) for tag in tags]
        process, pauses = self._process, self._pauses
        later = bool(how.keys() - {ASYNC})
        try:
            if not self._running:
                raise RequestFailed("the producer doesn't run", None)
            timeout_ms = int(self._settings.get("sendMsgTimeout", SEND_TIMEOUT_MS))
            answer = process.request(
                "send",
                self._limit_s(how, timeout_ms),
                name=self.name,
                topic=self._named(topic),
                tag=messages[0]["tag"],
                key=messages[0]["key"],
                body=filled(body, messages[0]["key"]),
                queue=None if queue is None else {"broker": queue[0], "id": queue[1]},
                timeout_ms=timeout_ms,
                keys=messages[0].get("keys", []),
                properties=dict(properties),
                **_further(
                    messages, body, how, None if hash_key is None else filled(hash_key, messages[0]["key"])
                ),
            )
            if answer["queue_id"] is None and not later:
                answer |= self._locate(self._real(topic), answer["msg_id"])
        except EnvironmentNotReady as failure:
            # What a step has ended or paused answers nothing; of anything else the run must hear.
            by_a_step = process in self._ended or self.paused or self._pauses > pauses
            if not isinstance(failure, RequestFailed) and not by_a_step:
                raise
            return self._not_sent(messages, failure)
        # What isn't acknowledged in its turn has no status, as sendOneway.
        sent = answer["status"] == "SEND_OK" or (later and answer["status"] is None)
        error = "" if sent else str(answer["status"])
        if later:
            unique = str(answer["msg_id"] or "").split(",")
            for number, item in enumerate(messages):
                self._accepted(
                    item, how, {**answer, "msg_id": unique[number] if number < len(unique) else None}
                )
            return error
        ids = [str(answer[name] or "").split(",") for name in ("msg_id", "offset_msg_id")]
        for number, item in enumerate(messages):
            msg_id, offset_msg_id = (own[number] if number < len(own) else None for own in ids)
            own = {"msg_id": msg_id, "offset_msg_id": offset_msg_id} if len(messages) > 1 else {}
            self._sent(self.name, item, {**answer, **own, "queue_offset": answer["queue_offset"] + number})
        return error

    def recall(self, topic: str, key: str) -> str | None:
        """Take back the message with this key, which it has sent with a delay; its `msg_id` by the broker.

        Raises:
            RequestFailed: a broker or the client refuses that.
        """
        if not self._running:
            raise RequestFailed("the producer doesn't run", None)
        found = self._process.request(
            "recall", SEND_TIMEOUT_MS / 1000 + 5, name=self.name, topic=self._named(topic), key=key
        )
        msg_id: str | None = found["msg_id"]
        return msg_id

    def _limit_s(self, how: Mapping[str, Any], timeout_ms: int) -> float:
        """How long the answer of a `send` may take.

        With back pressure the client's own send() waits for a permit, as long as the message's timeout, and one
        message does after the other (`DefaultMQProducerImpl.executeAsyncMessageSend`).
        """
        before = (
            UNDER_WAY - 1 if how.get(ASYNC) and self._settings.get("enableBackpressureForAsyncMode") else 0
        )
        takes_ms: int = how.get("transaction", {}).get("takes_ms", 0) + how.get("request_ms", 0)
        return (timeout_ms * (1 + before) + takes_ms) / 1000 + 5

    def _not_sent(self, messages: Sequence[Mapping[str, Any]], failure: EnvironmentNotReady) -> str:
        failed: dict[str, Any] = {"error": str(failure), "code": None}
        if isinstance(failure, RequestFailed):
            failed |= {"code": failure.code, "exceptions": list(failure.exceptions)}
        for item in messages:
            self._history.append(self.name, SendFailed.kind, {**item, **failed})
        return str(failure)

    def _numbered(
        self, topic: str, tag: str | None, keys: Sequence[str], properties: Mapping[str, str]
    ) -> dict[str, Any]:
        """The next message of a topic, written down as `send-invoked`."""
        with self._sendings.lock:
            numbers = self._sendings.numbers
            number = numbers[topic] = numbers.get(topic, 0) + 1
        key = f"{topic}-{number}"
        further = {"keys": [filled(own, key) for own in keys], "properties": dict(properties)}
        message: dict[str, Any] = {"topic": topic, "key": key, "tag": tag}
        message |= {name: value for name, value in further.items() if value}
        self._history.append(self.name, SendInvoked(**message))
        return message

    def _sent(self, producer: str, message: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        self._history.append(producer, Sent.kind, {**message, **answer})
        self._sendings.acknowledged.append(
            Acknowledged(
                key=message["key"],
                topic=message["topic"],
                broker=answer["broker"],
                queue_id=answer["queue_id"],
                queue_offset=answer["queue_offset"],
                msg_id=answer["msg_id"],
                offset_msg_id=answer["offset_msg_id"],
            )
        )

    def _accepted(self, message: dict[str, Any], how: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """It is not in its queue yet: that is looked for later."""
        transaction = how.get("transaction")
        plain = "request" if "request_ms" in how else "oneway" if "oneway" in how else "delayed"
        way = transaction["state"] if transaction else plain
        found = {"how": way, "status": answer["status"], "msg_id": answer["msg_id"]}
        found |= {name: how[name] for name in ("delay_ms", "delay_level") if name in how}
        self._history.append(self.name, SendAccepted.kind, {**message, **found})
        with self._sendings.lock:
            self._sendings.on_their_way.append((self.name, message, answer["msg_id"]))

    def look_for_accepted(self) -> None:
        """Write down as `sent` what has come into its queue since, of what was accepted of any producer."""
        with self._sendings.lock:
            looked_for, self._sendings.on_their_way = self._sendings.on_their_way, []
        for entry in looked_for:
            producer, message, msg_id = entry
            found = self._find(self._real(message["topic"]), msg_id)
            if found is None:
                with self._sendings.lock:
                    self._sendings.on_their_way.append(entry)
            else:
                self._sent(producer, message, {"status": "SEND_OK", "msg_id": msg_id, **found})

    def release(self) -> None:
        """End the client, and its process unless that is shared."""
        if self._worker is not None:
            self._will_end()
            self._worker.release()


def _further(
    messages: Sequence[Mapping[str, Any]], body: str | None, how: Mapping[str, Any], hash_key: str | None
) -> dict[str, Any]:
    """The fields of `send` for ways that not every client has: a worker gets them only when they are used."""
    batch = [
        {name: item[name] for name in ("tag", "key", "keys") if name in item}
        | ({"body": filled(body, item["key"])} if body is not None else {})
        for item in messages[1:]
    ]
    further = {"batch": batch, "how": dict(how), "hash_key": hash_key}
    return {name: value for name, value in further.items() if value}
