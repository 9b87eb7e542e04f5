"""Speaks the protocol, has no RocketMQ, and misbehaves on command. For tests of the handle alone."""

import argparse
import os
import signal
import sys
import threading
from pathlib import Path

from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe, event_line, serve

parser = argparse.ArgumentParser()
parser.add_argument("--events-fd", type=int, required=True)
fd = parser.parse_args().events_fd
events = EventPipe(fd)
signal.alarm(120)  # it may be told to outlive its parent


def echo(**with_):
    return {"with": with_}


def surroundings():
    return {
        "session": os.getsid(0),
        "owner": os.environ["ROCKETCHAOS_OWNER"],
        "safe_path": "" in sys.path or str(Path.cwd()) in sys.path,
    }


def refuse(code):
    raise CommandFailed("TOPIC_NOT_EXIST", code)


def stumble():
    raise ZeroDivisionError("of its own making")


def emit(count, size):
    for number in range(count):
        events.emit("numbered", {"number": number, "filler": "x" * size})


def emit_for_ever(diary):
    """After each event its number is noted, so that a test knows what was written for certain."""
    note = os.open(diary, os.O_WRONLY | os.O_CREAT)
    number = 0
    while True:
        events.emit("numbered", {"number": number})
        os.pwrite(note, b"%09d" % number, 0)
        number += 1


def hang(until_file):
    """Until the parent says so, or dies."""
    os.read(os.open(until_file, os.O_RDONLY), 1)


def end(code):
    os._exit(code)


def die_in_mid_line():
    events.emit("numbered", {"number": 0})
    os.write(fd, event_line("numbered", {"number": 1})[:-10])
    os.kill(os.getpid(), signal.SIGKILL)


def write(text):
    os.write(fd, text.encode())
    events.emit("after", {})


def write_filler(size):
    events.write(b"x" * size)


def close_pipe():
    os.close(fd)
    Path("/proc/self/comm").read_text()  # it goes on running
    threading.Event().wait()


def ignore_end_of_input():
    threading.Thread(target=threading.Event().wait, daemon=False).start()


serve(
    events,
    {
        name.replace("_", "-"): function
        for name, function in list(globals().items())
        if callable(function) and getattr(function, "__module__", None) == __name__
    },
)
