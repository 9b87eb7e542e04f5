"""A worker's real commands, and clients that only tell what is done to them. There is no RocketMQ in it."""

import argparse
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rocketchaos.harness.workers.child.client_worker import ClientWorker
from rocketchaos.harness.workers.child.listener import Abandoned, Listener
from rocketchaos.harness.workers.protocol import EventPipe, serve

parser = argparse.ArgumentParser()
parser.add_argument("--events-fd", type=int, required=True)
events = EventPipe(parser.parse_args().events_fd)
signal.alarm(120)  # it may be told to outlive its parent
MESSAGE = {"key": "k1", "msg_id": "m1", "offset_msg_id": "o1", "reconsume_times": 0}


def wait_for(file):
    """Until the parent writes into this FIFO; for ever where there is none."""
    if file is None:
        threading.Event().wait()
    Path(file).read_bytes()


class Consumer:
    """Gets one message when it starts; its shutdown takes as long as `stops_with` has it."""

    def __init__(self, name, behaviour=None, stops_with="", fails=False):
        self.client_id = name
        self.listener = Listener(name, events, **(behaviour or {}))
        self.stops_with = stops_with
        self.fails = fails

    def versions(self):
        return {}

    def start(self):
        threading.Thread(target=self.consume).start()

    def consume(self):
        try:
            seen, _ = self.listener.receive([MESSAGE])
            self.listener.report(seen, "CONSUME_SUCCESS")
        except Abandoned:
            events.emit("abandoned", {"consumer": self.client_id})

    def stop(self):
        events.emit("stopping", {"consumer": self.client_id})
        if self.fails:
            raise ZeroDivisionError("of its own making")
        if self.stops_with != "":
            wait_for(self.stops_with)
        self.listener.abandon()
        events.emit("stopped", {"consumer": self.client_id})


class Producer:
    """Sends as long as `body` has it, one message after the other."""

    client_id = "producer"

    def __init__(self, name):
        self.thread = ThreadPoolExecutor(1)

    def start(self):
        pass

    def send(self, message):
        events.emit("sending", {})
        return self.thread.submit(lambda: wait_for(message.body) or {"status": "SEND_OK"}).result()

    def stop(self):
        events.emit("stopping", {"consumer": self.client_id})
        self.thread.shutdown()
        events.emit("stopped", {"consumer": self.client_id})


worker = ClientWorker(Consumer, Producer)
serve(events, worker.handlers, shut_down=worker.shut_down)
