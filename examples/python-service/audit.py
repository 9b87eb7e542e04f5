"""Writes each order that it gets into a ledger: `audit.py NAME_SERVER TAGS`."""

import logging
import signal
import sys
import threading

from rocketmq.client import PushConsumer

LEDGER = {}


def audit(message):
    """Write one order into the ledger."""
    order = message.keys.decode()
    LEDGER[order] = message.body
    logging.info("audited %s", order)


def main(name_server, tags):
    """Audit until SIGTERM comes."""
    logging.basicConfig(level=logging.INFO)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    consumer = PushConsumer("audit")
    consumer.set_namesrv_addr(name_server)
    consumer.subscribe("orders", audit, tags)
    consumer.start()
    logging.info("audit is ready")
    ended.wait()
    consumer.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
