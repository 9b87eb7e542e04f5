"""The `python` worker: rocketmq-client-python 2.0.0 over the C++ client, in this process.

The commands are those of `harness.workers.protocol`. Commands that the C++ client's C API can't execute are
refused.
"""

import argparse
import faulthandler
import functools
import os
import sys
from pathlib import Path

from rocketchaos.harness.workers.child.client_worker import ClientWorker
from rocketchaos.harness.workers.child.python_consumer import PushConsumer
from rocketchaos.harness.workers.child.python_library import NativeClient
from rocketchaos.harness.workers.child.python_producer import Producer
from rocketchaos.harness.workers.protocol import EventPipe, serve


def main() -> None:
    """Load the C++ client and serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events-fd", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--library", type=Path, required=True)
    given = parser.parse_args()
    events = EventPipe(given.events_fd)
    # A crash in native code leaves the stacks of Python in what the worker prints.
    faulthandler.enable()
    # The C++ client writes logs/rocketmq-cpp, and .rocketmq_offsets of broadcasting consumers, in the user's home
    # (logAdapter, LocalFileOffsetStore); its SetPushConsumerLogPath does nothing.
    os.environ["HOME"] = str(given.folder)
    try:
        client = NativeClient(given.library)
    except (OSError, ImportError, AttributeError) as error:
        sys.exit(f"no C++ client from {given.library}: {error}")
    worker = ClientWorker(
        functools.partial(PushConsumer, client, events), functools.partial(Producer, client)
    )
    serve(events, worker.handlers, shut_down=worker.shut_down)
    # Its threads would hold up an orderly end.
    os._exit(0)


if __name__ == "__main__":
    main()
