"""The duties of a worker: a function for each, in the order in which they are tried."""

from collections.abc import Callable, Mapping

from rocketchaos.harness.conformance.bench import LIMIT_S, Bench, NotSo
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect, RequestFailed
from rocketchaos.harness.workers.protocol import TERMINATED

Check = Callable[[Bench], str | None]
"""Raises `NotSo`; text: why it says nothing to this worker."""
_STOP_LIMIT_S = 40.0
_HASHED = 15
_SENT = {"status", "broker", "queue_id", "queue_offset", "msg_id", "offset_msg_id"}


def answers(bench: Bench) -> str | None:
    """`ready`, then `ping`; an unknown command is a defect, and the worker goes on."""
    bench.producing.request("ping", LIMIT_S)
    try:
        bench.producing.request("no-such-command", LIMIT_S)
    except HarnessDefect:
        bench.producing.request("ping", LIMIT_S)
        return None
    except EnvironmentNotReady as failure:
        raise NotSo(f"an unknown command must be answered with `defect: true`: {failure}") from failure
    raise NotSo("an unknown command is answered as if it were done")


def sends(bench: Bench) -> str | None:
    """An acknowledged message is stored where the answer says, and in the queue that was asked for."""
    topic, producer = bench.topic(), bench.start_producer()
    for number in range(2):
        queue = {"broker": bench.broker.name, "id": 3} if bench.kind.chooses_queues else None
        more = {"keys": ["further"], "properties": {"a": "1"}}
        answer = bench.send(producer, topic, "tagA", f"sent-{number}", queue=queue, **more)
        if missing := _SENT - set(answer):
            raise NotSo(f"`send` answers without {', '.join(sorted(missing))}: {answer}")
        found = _found(bench, topic, str(answer["msg_id"]))
        text = {key: answer[key] for key in ("broker", "queue_id", "queue_offset") if answer[key] is not None}
        stored = {key: found.get(key) for key in text}
        if text != stored or (queue is not None and text.get("queue_id") != queue["id"]):
            raise NotSo(f"`send` was asked for queue {queue} and answers {text}; stored is {stored}")
    return None


def _found(bench: Bench, topic: str, msg_id: str) -> Mapping[str, object]:
    found = bench.until(
        f"the message {msg_id}",
        lambda: bench.admin.find_message(topic, msg_id),
        lambda seen: seen is not None,
    )
    return found or {}


def sends_by_hash(bench: Bench) -> str | None:
    """Messages with the same `hash_key` are in the same queue, and not all texts lead to one queue."""
    if "hash_key" not in bench.kind.sends:
        return "it doesn't choose a queue by a hash"
    topic = bench.topic(settings={"message.type": "FIFO"} if bench.kind.needs_proxy else {})
    producer = bench.start_producer()
    queues: dict[str, set[object]] = {}
    # An odd number of texts, twice: queues in turn would be others the second time.
    for text in [f"hash-{number}" for number in range(_HASHED)] * 2:
        answer = bench.send(producer, topic, None, f"{text}-sent", hash_key=text)
        queues.setdefault(text, set()).add(_found(bench, topic, str(answer["msg_id"])).get("queue_id"))
    apart = {text: sorted(map(str, own)) for text, own in queues.items() if len(own) > 1}
    if apart:
        raise NotSo(f"messages with one hash_key are in several queues: {apart}")
    if len(set().union(*queues.values())) == 1:
        raise NotSo(f"messages with {_HASHED} different hash_keys are all in one queue of four")
    return None


def consumes_by_tag(bench: Bench) -> str | None:
    """Exactly the messages of its tag, each with all its properties, then `consumed`."""
    topic, group, producer = bench.topic(), bench.name("group-"), bench.start_producer()
    consumer, client_id = bench.consume(bench.worker(), group, {topic: "tagA || tagB"})
    _joined(bench, group, client_id)
    sent = {
        f"{tag}-{number}": (tag, bench.send(producer, topic, tag, f"{tag}-{number}", keys=["further"]))
        for number in range(4)
        for tag in ("tagA", "tagC")
    }
    wanted = {key for key, (tag, _) in sent.items() if tag == "tagA"}
    received = {event["key"]: event for event in bench.wait(consumer, "received", len(wanted))}
    if set(received) != wanted:
        raise NotSo(f"it subscribes to tagA and tagB, and its listener got {sorted(map(str, received))}")
    for key, event in received.items():
        tag, answer = sent[key]
        expected = {"topic": topic, "tag": tag, "keys": ["further"], "reconsume_times": 0}
        expected |= {"msg_id": answer["msg_id"], "broker": answer["broker"], "queue_id": answer["queue_id"]}
        expected |= {"offset": answer["queue_offset"], "offset_msg_id": answer["offset_msg_id"]}
        wrong = {
            field: (event.get(field), value)
            for field, value in expected.items()
            if event.get(field) != value and value is not None and not _untold(bench, field, event)
        }
        if wrong:
            raise NotSo(f"`received` of {key} differs from what was sent, as (received, sent): {wrong}")
    consumed = bench.wait(consumer, "consumed", len(wanted))
    if {event.get("key") for event in consumed} != wanted:
        raise NotSo(f"`consumed` names {sorted(str(event.get('key')) for event in consumed)}")
    return None


def _untold(bench: Bench, field: str, event: Mapping[str, object]) -> bool:
    """Whether clients of a proxy needn't tell that."""
    return bench.kind.needs_proxy and field in ("offset_msg_id", "offset") and event.get(field) is None


def _joined(bench: Bench, group: str, client_id: str) -> None:
    """The broker knows it by the id that it reported; of a proxy's clients it may know nothing."""
    if not bench.kind.needs_proxy:
        bench.until(
            f"the broker's members of {group} with {client_id}",
            lambda: bench.members(group),
            lambda members: client_id in members,
        )


def blocks(bench: Bench) -> str | None:
    """A listener with `block` blocks until `release-listener`."""
    topic, group, producer = bench.topic(1), bench.name("group-"), bench.start_producer()
    worker = bench.worker()
    behaviour = {"fail": 0, "block": ["held"], "slow_ms": 0}
    consumer, _ = bench.consume(worker, group, {topic: "*"}, behaviour=behaviour)
    bench.send(producer, topic, None, "held")
    bench.wait(consumer, "blocked", 1)
    if bench.of(consumer, "consumed"):
        raise NotSo("`consumed` comes though its listener blocks")
    worker.request("release-listener", LIMIT_S, name=consumer)
    bench.wait(consumer, "consumed", 1)
    return None


def retries(bench: Bench) -> str | None:
    """A message that its listener fails comes again, as the same message with reconsume_times 1."""
    if not bench.api.retries:
        return "it has no retries"
    topic, group, producer = bench.topic(1), bench.name("group-"), bench.start_producer()
    behaviour = {"fail": 1, "block": [], "slow_ms": 0}
    level = {} if "retry_delay_level" in bench.api.lacks else {"retry_delay_level": 1}
    consumer, _ = bench.consume(bench.worker(), group, {topic: "*"}, behaviour=behaviour, **level)
    sent = bench.send(producer, topic, "tagA", "failed")
    first, again = bench.wait(consumer, "received", 2)[:2]
    found = (first["reconsume_times"], again["reconsume_times"], again["msg_id"], again["topic"])
    # A client of gRPC counts deliveries, the brokers reconsumeTimes; both tell the second attempt.
    if found != (0, 1, sent["msg_id"], topic):
        raise NotSo(f"reconsume_times of both attempts, msg_id and topic of the second are {found}")
    statuses = [event["status"] for event in bench.wait(consumer, "consumed", 2)]
    if statuses[0] == statuses[1]:
        raise NotSo(f"the statuses of a failure and a success are both {statuses[0]}")
    return None


def in_order(bench: Bench) -> str | None:
    """An orderly listener gets the messages of a queue one at a time."""
    if "listener" in bench.api.lacks:
        return "it has no orderly listener"
    topic, group, producer = bench.topic(1), bench.name("group-"), bench.start_producer()
    consumer, client_id = bench.consume(bench.worker(), group, {topic: "*"}, listener="orderly")
    _joined(bench, group, client_id)
    keys = [f"n-{number}" for number in range(8)]
    for key in keys:
        bench.send(producer, topic, None, key)
    got = [event["key"] for event in bench.wait(consumer, "consumed", len(keys))]
    if got != keys:
        raise NotSo(f"it consumed {got}")
    return None


def broadcasts(bench: Bench) -> str | None:
    """Each of two broadcasting consumers gets everything."""
    if "model" in bench.api.lacks:
        return "it doesn't broadcast"
    topic, group, producer = bench.topic(2), bench.name("group-"), bench.start_producer()
    both = [bench.consume(bench.worker(), group, {topic: "*"}, model="broadcasting") for _ in range(2)]
    for _, client_id in both:
        _joined(bench, group, client_id)
    for number in range(4):
        bench.send(producer, topic, None, f"n-{number}")
    for consumer, _ in both:
        bench.wait(consumer, "received", 4)
    return None


def filters_by_sql(bench: Bench) -> str | None:
    """It subscribes by SQL on the messages' properties."""
    if not bench.api.sql:
        return "it has no SQL"
    topic, group, producer = bench.topic(1), bench.name("group-"), bench.start_producer()
    consumer, _ = bench.consume(bench.worker(), group, {topic: {"sql": "a = '2'"}})
    for value in ("1", "2"):
        bench.send(producer, topic, None, f"a-{value}", properties={"a": value})
    if [event["key"] for event in bench.wait(consumer, "received", 1)] != ["a-2"]:
        raise NotSo("it got what its SQL doesn't match")
    return None


def tells_queues(bench: Bench) -> str | None:
    """It tells the queues that it owns: all four, alone in its group."""
    if not bench.api.tells_queues:
        return "it doesn't tell its queues"
    topic, group = bench.topic(4), bench.name("group-")
    worker = bench.worker()
    consumer, client_id = bench.consume(worker, group, {topic: "*"})

    def owned() -> set[int]:
        try:
            shown = (
                worker.request("assignment", LIMIT_S, name=consumer)
                if bench.api.asks_process
                else bench.admin.running_info(group, client_id, bench.broker.address, 3_000)
            )
        except RequestFailed:
            return set()
        return {int(item["queue_id"]) for item in shown["queues"] if item["topic"] == topic}

    bench.until("all four queues", owned, lambda seen: seen in ({0, 1, 2, 3}, {-1}))
    return None


def counts_pulls(bench: Bench) -> str | None:
    """It counts the pulls that brought messages, and the messages that passed its filter."""
    if not bench.api.counts_pulls:
        return "it counts no pulls"
    topic, group, producer = bench.topic(1), bench.name("group-"), bench.start_producer()
    worker = bench.worker()
    consumer, _ = bench.consume(worker, group, {topic: "tagA"})
    for number in range(3):
        bench.send(producer, topic, "tagA", f"n-{number}")
    bench.wait(consumer, "received", 3)
    counts = worker.request("pull-counts", LIMIT_S, name=consumer, topic=topic)
    if not 1 <= counts["found_pulls"] <= 3 or counts["passed_messages"] != 3:
        raise NotSo(f"of 3 messages it counts {counts}")
    return None


def resubscribes(bench: Bench) -> str | None:
    """It subscribes to another topic while it runs; or says that it can't."""
    first, second = bench.topic(1), bench.topic(1)
    group, producer, worker = bench.name("group-"), bench.start_producer(), bench.worker()
    consumer, _ = bench.consume(worker, group, {first: "*"})
    try:
        worker.request("subscribe", LIMIT_S, name=consumer, topic=second, expression="*")
    except RequestFailed as refusal:
        if bench.api.resubscribes:
            raise NotSo(f"its traits say that it resubscribes, and it refuses: {refusal}") from refusal
        return "it says that it can't"
    if not bench.api.resubscribes:
        raise NotSo("its traits say that it can't resubscribe, and it doesn't refuse")
    bench.send(producer, second, None, "later")
    bench.wait(consumer, "received", 1)
    return None


def stops(bench: Bench) -> str | None:
    """`stop-consumer` takes it out of its group, and its name is free again."""
    topic, group, worker = bench.topic(1), bench.name("group-"), bench.worker()
    consumer, client_id = bench.consume(worker, group, {topic: "*"})
    _joined(bench, group, client_id)
    worker.request("stop-consumer", _STOP_LIMIT_S, name=consumer)
    bench.until("no member of its group", lambda: bench.members(group), lambda members: not members)
    try:
        worker.request("stop-consumer", _STOP_LIMIT_S, name=consumer)
    except RequestFailed:
        return None
    raise NotSo("a consumer that has stopped can be stopped again")


def ends_by_sigterm(bench: Bench) -> str | None:
    """SIGTERM: it shuts its clients down, and ends with exit code 143."""
    topic, group, worker = bench.topic(1), bench.name("group-"), bench.worker()
    _, client_id = bench.consume(worker, group, {topic: "*"})
    _joined(bench, group, client_id)
    worker.terminate()
    try:
        worker.wait_terminated(_STOP_LIMIT_S)
    except Exception as error:
        raise NotSo(f"exit code {TERMINATED} is wanted: {error}") from error
    bench.until("no member of its group", lambda: bench.members(group), lambda members: not members)
    return None


def ends_with_its_input(bench: Bench) -> str | None:
    """It ends once its standard input closes, without goodbyes, within 10 s."""
    worker = bench.worker()
    worker.stop(10)
    if worker.returncode is not None and worker.returncode < 0:
        raise NotSo("10 s after its standard input was closed it still ran, and was killed")
    return None


CHECKS: Mapping[str, Check] = {
    "answers": answers,
    "sends": sends,
    "sends-by-hash": sends_by_hash,
    "consumes-by-tag": consumes_by_tag,
    "blocks": blocks,
    "retries": retries,
    "in-order": in_order,
    "broadcasts": broadcasts,
    "filters-by-sql": filters_by_sql,
    "tells-queues": tells_queues,
    "counts-pulls": counts_pulls,
    "resubscribes": resubscribes,
    "stops": stops,
    "ends-by-sigterm": ends_by_sigterm,
    "ends-with-its-input": ends_with_its_input,
}
"""By id; a new one is registered here."""
