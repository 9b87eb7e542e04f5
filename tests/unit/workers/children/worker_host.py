"""Speaks the protocol as the `java` worker does, for tests of shared workers. There is no RocketMQ in it."""

import argparse
import os
import signal

from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe, serve

parser = argparse.ArgumentParser()
parser.add_argument("--events-fd", type=int, required=True)
events = EventPipe(parser.parse_args().events_fd)
signal.alarm(120)  # it may be told to outlive its parent
clients = set()


def start_consumer(name, refuse=False):
    if refuse:
        raise CommandFailed("MQClientException: not this expression", 23)
    clients.add(name)
    return {"client_id": name}


def stop_consumer(name, refuse=False):
    if refuse or "stubborn" in name:
        raise ZeroDivisionError("of its own making")
    clients.remove(name)


def list_clients():
    return {"clients": sorted(clients)}


def say(name, text):
    events.emit("said", {"consumer": name, "text": text})


def say_of_nobody():
    events.emit("said", {"text": "of nobody"})


def refuse(name):
    raise CommandFailed("TOPIC_NOT_EXIST", 17)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


serve(
    events,
    {
        "start-consumer": start_consumer,
        "stop-consumer": stop_consumer,
        "list-clients": list_clients,
        "say": say,
        "say-of-nobody": say_of_nobody,
        "refuse": refuse,
        "die": die,
    },
)
