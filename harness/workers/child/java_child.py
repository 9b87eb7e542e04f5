"""The `java` worker: the real Java client, of any version's jars, in this process's own JVM.

Rests on DefaultMQPushConsumer, DefaultLitePullConsumer and DefaultMQPullConsumer of
org.apache.rocketmq.client.consumer and on org.apache.rocketmq.client.producer.DefaultMQProducer, as they are from
4.9.3 to 5.5.0. The commands are those of `harness.workers.protocol`.
"""

from rocketchaos.harness.workers import jpype_without_numpy  # noqa: F401  (before jpype)

# isort: split

import contextlib
import functools
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jpype

from rocketchaos.harness.workers.child import jvm
from rocketchaos.harness.workers.child.client_worker import ClientWorker
from rocketchaos.harness.workers.child.java_consumer import PopConsumer, PushConsumer
from rocketchaos.harness.workers.child.java_polled import LitePullConsumer
from rocketchaos.harness.workers.child.java_producer import Producer
from rocketchaos.harness.workers.child.java_pull import PullConsumer
from rocketchaos.harness.workers.child.spare import Spare
from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe, Handler

_WARM_UP = (
    "org.apache.rocketmq.client.consumer.DefaultMQPushConsumer",
    "org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl",
    "org.apache.rocketmq.client.impl.factory.MQClientInstance",
    "org.apache.rocketmq.client.impl.MQClientAPIImpl",
    "org.apache.rocketmq.remoting.netty.NettyRemotingClient",
    "io.netty.bootstrap.Bootstrap",
    "io.netty.channel.nio.NioEventLoopGroup",
    "io.netty.channel.socket.nio.NioSocketChannel",
    "io.netty.buffer.PooledByteBufAllocator",
)
"""Classes whose loading takes most of a first consumer's start."""
_FIRST_USED = {
    "java.lang.reflect": ("AccessibleObject", "Field", "Field[]", "Member"),
    "java.util": (
        "AbstractMap",
        "AbstractMap$SimpleEntry",
        "AbstractMap$SimpleImmutableEntry",
        "ArrayList",
        "ArrayList$Itr",
        "Collections$UnmodifiableCollection",
        "Collections$UnmodifiableList",
        "Collections$UnmodifiableRandomAccessList",
        "HashSet",
        "Map$Entry",
        "Set",
    ),
    "java.util.concurrent": (
        "ConcurrentHashMap",
        "ConcurrentHashMap$EntryIterator",
        "ConcurrentHashMap$EntrySetView",
        "ConcurrentHashMap$KeyIterator",
        "ConcurrentHashMap$KeySetView",
        "ConcurrentHashMap$MapEntry",
        "atomic.LongAdder",
    ),
    "org.apache.rocketmq.client": (
        "consumer.AllocateMessageQueueStrategy",
        "consumer.DefaultLitePullConsumer",
        "consumer.MessageSelector",
        "consumer.listener.ConsumeConcurrentlyContext",
        "consumer.listener.ConsumeConcurrentlyStatus",
        "consumer.listener.ConsumeOrderlyContext",
        "consumer.listener.ConsumeOrderlyStatus",
        "consumer.listener.MessageListenerConcurrently",
        "consumer.listener.MessageListenerOrderly",
        "consumer.rebalance.AllocateMessageQueueAveragely",
        "exception.MQBrokerException",
        "exception.MQClientException",
        "impl.consumer.AssignedMessageQueue",
        "impl.consumer.DefaultLitePullConsumerImpl",
        "impl.consumer.RebalancePushImpl",
        "producer.DefaultMQProducer",
        "producer.MessageQueueSelector",
        "producer.SendCallback",
        "producer.SendResult",
        "producer.SendStatus",
        "stat.ConsumerStatsManager",
    ),
    "org.apache.rocketmq.common": (
        "consumer.ConsumeFromWhere",
        "message.Message",
        "message.MessageClientExt",
        "message.MessageExt",
        "message.MessageQueue",
        "protocol.heartbeat.MessageModel",
        "protocol.heartbeat.SubscriptionData",
        "stats.RTStatsItem",
        "stats.StatsItem",
        "stats.StatsItemSet",
    ),
    "org.apache.rocketmq.remoting": (
        "exception.RemotingException",
        "protocol.RemotingCommand",
        "protocol.heartbeat.MessageModel",
        "protocol.heartbeat.SubscriptionData",
    ),
}
"""The classes that commands and listeners use, by package: 4.9 and 5.x have some in different ones. `after` has
the reason why they are used before."""


_OFFSETS_FOLDER = "rocketmq.client.localOffsetStoreDir"

Consumer = PushConsumer | LitePullConsumer | PullConsumer

_PLAIN: Mapping[str, Any] = {
    "model": "clustering",
    "consume_from": "first-offset",
    "strategy": {"name": "average", "queues": [], "rooms": []},
    "behaviour": {},
}
"""A consumer's settings if `start-consumer` gives none."""
_PLAIN_PUSH: Mapping[str, Any] = {"listener": "concurrent", "retry_delay_level": 0}
"""The same of what only those with a listener get."""
_WITH_LISTENER: Mapping[str, type[PushConsumer]] = {"push": PushConsumer, "pop": PopConsumer}
_POLLED: Mapping[str, type[LitePullConsumer | PullConsumer]] = {
    "lite-pull": LitePullConsumer,
    "pull": PullConsumer,
}


def _consumer(
    events: EventPipe, name: str, api: str = "push", offsets_of_host: bool = False, **with_: Any
) -> Consumer:
    chosen = {**_PLAIN, **with_}
    if offsets_of_host:
        _keep_offsets_beside_others()
    if api in _WITH_LISTENER:
        return _WITH_LISTENER[api](name, events, **{**_PLAIN_PUSH, **chosen})
    if api in _POLLED:
        settings = {key: value for key, value in chosen.items() if key not in _PLAIN_PUSH}
        return _POLLED[api](name, events, **settings)
    raise CommandFailed(f"the Java client has no consumer `{api}`")


def _keep_offsets_beside_others() -> None:
    """Broadcasting offsets of this process go where those of others of the run go that get the same.

    LocalFileOffsetStore reads the property when its class is loaded, with the first broadcasting consumer's start.
    """
    system = jpype.JClass("java.lang.System")
    own = Path(str(system.getProperty(_OFFSETS_FOLDER)))
    system.setProperty(_OFFSETS_FOLDER, str(own.parent.parent / "offsets-of-the-host"))


def _warm_up() -> None:
    """Load what consumers and producers need; a class that a version lacks is no matter: nothing rests on it."""
    first_used = [f"{package}.{name}" for package, names in _FIRST_USED.items() for name in names]
    for name in (*_WARM_UP, *first_used):
        with contextlib.suppress(TypeError, jpype.JException):
            jpype.JClass(name)
    with contextlib.suppress(jpype.JException):
        jvm.new_client(_WARM_UP[0], "WARM_UP")


def after(warm_up: threading.Thread, handler: Handler) -> Handler:
    """The handler, which begins once everything is loaded.

    Two threads must not be the first to use a class at the same time: the second finds a class without hints, and
    the process ends with SIGSEGV (JPHintsConversion::matches, JPype 1.7.1).
    """

    @functools.wraps(handler)
    def call(**with_: Any) -> Mapping[str, Any] | None:
        warm_up.join()
        return handler(**with_)

    return call


def main() -> None:
    """Start the JVM and serve."""
    given = jvm.arguments()
    spare = None if given.spare is None else Spare(given.spare)
    jvm.start(given)
    warm_up = threading.Thread(target=_warm_up, name="warm-up", daemon=True)
    warm_up.start()
    events = EventPipe(given.events_fd if spare is None else spare.wait_until_taken())
    worker = ClientWorker(functools.partial(_consumer, events), functools.partial(Producer, events))
    handlers = {name: after(warm_up, handler) for name, handler in worker.handlers.items()}
    jvm.run(given, events, handlers, worker.shut_down)


if __name__ == "__main__":
    main()
