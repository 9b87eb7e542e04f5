"""Symptoms are found by what people paste, whatever ids and addresses of theirs stand in it."""

from __future__ import annotations

import pytest

from rocketchaos.harness.plan.symptom_list import shipped_symptoms, symptom_of
from rocketchaos.harness.plan.symptom_search import search, thread_in, words_of

EVERY = shipped_symptoms()

FIRST = {
    "2021-04-02 15:24:54.018 WARN [NettyClientPublicExecutor_2:RocketmqClient:130] execute the pull request "
    "exception\norg.apache.rocketmq.client.exception.MQBrokerException: CODE: 17  DESC: topic[topic-flash2] not "
    "exist, apply first please! BROKER: 192.168.60.39:10911": "unreadable-topic-is-pulled-on",
    "CODE: 16  DESC: the broker[10.0.0.1] sending message is forbidden": "closed-broker-takes-messages",
    "CODE: 2  DESC: [PCBUSY_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 7ms, "
    "size of queue: 312": "system-busy-flow-control",
    "tryLockBatch, message queue locked by other client. Group: orderGroup OtherClientId: 10.0.0.2@31 "
    "NewClientId: 10.0.0.3@7 MessageQueue [topic=orders, brokerName=b-1, queueId=0]": (
        "orderly-kill-leaves-the-lock"
    ),
    "the message queue not locked, so consume later, MessageQueue [topic=orders, brokerName=b-1, queueId=0]": (
        "orderly-takeover-waits-for-the-lock"
    ),
}
"""A longer match comes before a shorter one that is in many lines."""

AMONG_THREE = {
    "CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 208ms, "
    "size of queue: 8": "busy-broker-is-not-avoided",
    "org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to 172.17.0.3:10911 failed": (
        "async-send-to-a-dead-broker"
    ),
    "什么原因会导致客户端小概率停止消费某个queue的消息？": "offset-stands-still",
    "2021-04-02 15:24:54.018 WARN [NettyClientPublicExecutor_2:RocketmqClient:130] execute the pull request "
    "exception\norg.apache.rocketmq.client.exception.MQBrokerException: CODE: 17  DESC: topic[topic-flash2] not "
    "exist, apply first please!": "unreadable-topic-is-pulled-on",
    "CODE: 17  DESC: No topic route info in name server for the topic: normalTopic": (
        "namespace-of-the-producer-alone"
    ),
}
"""Several symptoms have the same line."""

PASTED = {
    "the consumer's subscription not exist": "a-topic-each-in-one-group",
    "2026-11-24 03:21:07 WARN PullMessageThread_17 - the consumer's subscription not exist, group: "
    "GID_order_center_01, topic:TP_PAY": "a-topic-each-in-one-group",
    "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 24  DESC: the consumer's group info not exist\n"
    "See http://rocketmq.apache.org/docs/faq/ for further details.\n"
    "\tat org.apache.rocketmq.client.impl.MQClientAPIImpl.processPullResponse(MQClientAPIImpl.java:640)": (
        "group-info-not-exist-after-a-restart"
    ),
    'time="2023-12-19T11:11:36+08:00" level=warning msg="pull message from broker error" broker="10.9.8.4:57" '
    'underlayError="unknown Response Code: 24, remark: the consumer\'s subscription not exist"': (
        "group-info-not-exist-after-a-restart"
    ),
    "CODE: 26  DESC: subscription group [crm-9f3a77] does not exist, See http://x.example/faq": (
        "subscription-group-does-not-exist"
    ),
    "code: 1 desc: the broker does not support consumer to filter message by sql92": "sql92-refused",
    "ClientId: 172.17.0.1@1 ClientAddr: 10.31.79.112:59606": "one-client-id-in-two-containers",
    "CONSUMED_BUT_FILTERED": "filtered-turns-into-consumed",
    "16-06-21 12:57:28 INFO MQClientFactoryScheduledThread - Group: sms ClientId: 192.168.1.148@9560 "
    "updateConsumeOffsetToBroker MessageQueue [topic=T9, brokerName=b1, queueId=3] 4711": "offset-stands-still",
    "2020-11-20 13:29:12,037 WARN ConsumeMessageThread_1 RocketmqClient 448: consumeMessage return null, Group: "
    "CG-creation Msgs: [MessageExt [queueId=0]] MQ: MessageQueue [topic=%RETRY%CG-creation, brokerName=broker-2, "
    "queueId=0]": "listener-that-throws",
    "CODE: 206  DESC: Consumer not online, so can not reset offset, Group: CID_pay Topic: pay_topic Timestamp: "
    "1524126611000": "reset-while-nobody-runs",
    "2021-08-24 20:20:41 WARN EndTransactionThread_1 - The producer[192.168.240.1:54888] end transaction in "
    "sending message,  and it's pending status.RequestHeader: EndTransactionRequestHeader{producerGroup="
    "'249ServerTest', tranStateTableOffset=0}": "transaction-that-nobody-checks",
    'INFO[0000] lock MessageQueue    MessageQueue="MessageQueue [topic=ADX, brokerName=broker-a, queueId=1]" '
    "consumerGroup=GID_ADX01 lockOK=false": "orderly-kill-leaves-the-lock",
    "MessageExt [brokerName=LAPTOP-0DS6DCA6, queueId=0, properties={MIN_OFFSET=0, MAX_OFFSET=50, "
    "TIMER_DELIVER_MS=1664353175488}]": "delay-time-sent-to-an-old-broker",
    "Caused by: org.apache.rocketmq.client.exception.MQClientException: The producer group[calcCallbackGroup] "
    "has been created before, specify another name please.\nSee http://rocketmq.apache.org/docs/faq/ for "
    "further details.\n\tat org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl.start(x.java:203)": (
        "producer-group-has-been-created-before"
    ),
    "java.lang.IllegalStateException: Failed to start RocketMQ push consumer\n\tat org.apache.rocketmq.spring."
    "support.DefaultRocketMQListenerContainer.start(DefaultRocketMQListenerContainer.java:334)": (
        "namespace-that-nobody-filled-in"
    ),
    "org.apache.rocketmq.client.exception.MQClientException: The producer service state not OK, START_FAILED": (
        "producer-group-with-a-colon"
    ),
    "the topic=goTestTopic route info not found, it may not exist": "go-topic-that-does-not-exist",
    "2022-11-22 10:25:24 WARN PopReviveService_3 - putMessage message topic[%RETRY%GID_9_topic-AB] length too "
    "long 213, but it is not supported by broker": "pop-retry-of-long-names",
    "死信队列 没有读权限": "dead-letters-may-not-be-read",
    "消费者数量大于队列": "more-consumers-than-queues",
    "为什么新的group 消费了全部的历史消息": "new-group-gets-the-whole-history",
}


@pytest.mark.parametrize(("pasted", "name"), PASTED.items(), ids=PASTED.values())
def test_it_is_found_by_what_is_pasted(pasted: str, name: str) -> None:
    first = search(pasted, EVERY)[0]
    assert first.is_it
    assert first.symptom.name == name


@pytest.mark.parametrize(("pasted", "name"), FIRST.items(), ids=FIRST.values())
def test_the_longer_match_comes_first(pasted: str, name: str) -> None:
    assert search(pasted, EVERY)[0].symptom.name == name


def test_a_word_of_a_default_name_is_no_default_client_id() -> None:
    found = search("producer group name is same as default group: DEFAULT_PRODUCER", EVERY)
    assert found[0].symptom.name != "one-client-id-in-two-containers"


@pytest.mark.parametrize(("pasted", "name"), AMONG_THREE.items(), ids=AMONG_THREE.values())
def test_a_line_of_several_symptoms_finds_each(pasted: str, name: str) -> None:
    assert name in {found.symptom.name for found in search(pasted, EVERY)[:3]}


def test_each_is_found_by_each_of_its_own_texts() -> None:
    def found(text: str) -> set[str]:
        return {found.symptom.name for found in search(text, EVERY)[:5] if found.is_it}

    assert [(item.name, text) for item in EVERY for text in item.texts if item.name not in found(text)] == []


@pytest.mark.parametrize("text", ["printer on fire", "ORA-01555 snapshot too old", "qwertz uiop"])
def test_what_nobody_reported_is_not_found_and_has_a_nearest(text: str) -> None:
    found = search(text, EVERY)
    assert found
    assert not found[0].is_it


def test_a_queue_alone_is_no_symptom() -> None:
    pasted = (
        "2021-03-09 20:16:19.911 WARN  [PullMsgThread-c_g1] (Slf4jLoggerFactory.java:115) - The Pull Task is "
        "cancelled after doPullTask, MessageQueue [topic=t, brokerName=rmq-b5, queueId=3]"
    )
    assert not search(pasted, EVERY)[0].is_it


def test_what_is_theirs_does_not_count() -> None:
    assert words_of("10.1.2.3:10911 C0A82A8300002A9F00000000000CECDB 2026-01-02 03:04:05,678 @17 #9") == ()
    assert words_of("Response Code: 24, group: …") == ("response", "code24", "group")


@pytest.mark.parametrize(
    ("text", "thread"),
    [
        ("apache/rocketmq#2836", "apache/rocketmq#2836"),
        ("https://github.com/apache/rocketmq/issues/2836", "apache/rocketmq#2836"),
        ("#2836", "#2836"),
        ("2836", "#2836"),
        ("apache/rocketmq 2836", "apache/rocketmq#2836"),
        ("apache/rocketmq #2836", "apache/rocketmq#2836"),
        ("connect to a/b 2836 failed", None),
        ("code 24", None),
    ],
)
def test_a_thread_is_understood(text: str, thread: str | None) -> None:
    assert thread_in(text) == thread


def test_a_name_is_found() -> None:
    found = search("orderly-limit-without-a-dead-letter", EVERY)
    assert [match.symptom.name for match in found] == ["orderly-limit-without-a-dead-letter"]


def test_a_thread_is_found() -> None:
    assert [listed.symptom.name for listed in search("apache/rocketmq#2836", EVERY)] == ["star-beside-a-tag"]


@pytest.mark.parametrize(
    "thread",
    [
        "apache/rocketmq#99999",
        "apache/rocketmq-client-go#99999",
        "apache/rocketmq 99999",
        "https://github.com/apache/rocketmq/issues/99999",
    ],
)
def test_a_thread_that_no_symptom_has_is_not_found_by_its_repository(thread: str) -> None:
    assert search(thread, EVERY) == []
    assert search(f"{thread} CONSUMED_BUT_FILTERED", EVERY)[0].is_it


def test_the_first_version_without_it_is_the_one_that_fixed_it() -> None:
    data = {
        "name": "s",
        "title": "t",
        "issue": "a/b#1",
        "symptom": {"seen": "gone", "reported": "r", "texts": "x", "cause": "c", "remedy": "m"},
    }
    runs = {"5.5.0": {"not-reproduced": 1}, "4.9.4": {"reproduced": 2}, "5.1.4": {"inconclusive": 1}}
    listed = symptom_of(data, {"s": runs})
    assert (listed.shown_on, listed.absent_on, listed.fixed_in) == (("4.9.4",), ("5.5.0",), "5.5.0")
    assert listed.reproduce == "rocketchaos reproduce s --rocketmq 4.9.4"
    again = symptom_of(data, {"s": {**runs, "5.5.0": {"reproduced": 1}}})
    assert (again.fixed_in, again.reproduce) == ("", "rocketchaos reproduce s")
