from __future__ import annotations

import os
import socket

import pytest
from testcontainers.community.rocketmq import RocketMQContainer, _addresses, _brokers, _greet_proxy

IMAGE = os.environ.get("TC_ROCKETMQ_IMAGE", "apache/rocketmq:5.3.3")
IMAGE_4 = os.environ.get("TC_ROCKETMQ_IMAGE_4", "apache/rocketmq:4.9.4")


def connects(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=5):
        return True


def registered(container: RocketMQContainer) -> list[str]:
    host, _, port = container.get_namesrv_address().rpartition(":")
    return _brokers(host, int(port))


@pytest.mark.parametrize("image", [IMAGE, IMAGE_4])
def test_the_registered_broker_is_reached_from_outside(image: str) -> None:
    with RocketMQContainer(image) as rocketmq:
        assert registered(rocketmq) == [rocketmq.get_broker_address()]
        assert connects(rocketmq.get_broker_address())


def test_two_run_side_by_side() -> None:
    with RocketMQContainer(IMAGE) as one, RocketMQContainer(IMAGE) as other:
        assert one.get_namesrv_address() != other.get_namesrv_address()
        assert registered(one) != registered(other)


def test_the_proxy_answers_where_it_is_said_to() -> None:
    with RocketMQContainer(IMAGE, proxy=True) as rocketmq:
        host, _, port = rocketmq.get_proxy_endpoint().rpartition(":")
        _greet_proxy(host, int(port))
        with pytest.raises(OSError, match=r"refused|timed out"):
            _greet_proxy(host, 1)


def test_without_a_proxy_there_is_no_endpoint() -> None:
    with pytest.raises(ValueError, match="proxy=True"):
        RocketMQContainer(IMAGE).get_proxy_endpoint()


def test_a_broker_that_ends_is_reported_with_its_last_lines() -> None:
    container = RocketMQContainer(IMAGE, broker_config={"brokerRole": "SLAVE"})
    with pytest.raises(RuntimeError, match="ended while it started"), container:
        pass


def test_what_is_not_registered_in_time_is_a_message() -> None:
    # It registers under another address than the one it is waited for.
    container = RocketMQContainer(IMAGE, broker_config={"brokerIP1": "127.0.0.9"}, startup_timeout=0)
    with pytest.raises(TimeoutError, match=r"isn't ready within 0 s: .+"), container:
        pass


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('{"brokerDatas":[{"brokerAddrs":{0:"10.0.0.1:10911",1:"10.0.0.2:10911"}}]}', 2),
        ('{"brokerDatas":[{"brokerAddrs":{"0":"10.0.0.1:10911"},"brokerName":"a"}]}', 1),
        ('{"brokerDatas":[],"queueDatas":[]}', 0),
    ],
)
def test_addresses_of_a_route(body: str, found: int) -> None:
    assert len(_addresses(body)) == found
