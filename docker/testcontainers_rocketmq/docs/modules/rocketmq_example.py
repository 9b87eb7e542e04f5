import socket

from testcontainers.community.rocketmq import RocketMQContainer


def basic_example() -> None:
    with RocketMQContainer() as rocketmq:
        # Every client takes this address: setNamesrvAddr(…) in Java, set_name_server_address(…) in Python
        print(f"Name server: {rocketmq.get_namesrv_address()}")

        # The broker's address as the name server returns it; it is reachable from here
        host, _, port = rocketmq.get_broker_address().rpartition(":")
        with socket.create_connection((host, int(port)), timeout=5):
            print(f"Broker: {host}:{port}")

    # For gRPC clients of RocketMQ 5
    with RocketMQContainer(proxy=True) as rocketmq:
        print(f"Endpoint: {rocketmq.get_proxy_endpoint()}")


if __name__ == "__main__":
    basic_example()
