"""Is ready, and never reads a command."""

import signal
import sys

from rocketchaos.harness.workers.protocol import EventPipe

EventPipe(int(sys.argv[sys.argv.index("--events-fd") + 1])).emit("ready", {})
signal.alarm(120)  # it would outlive a test run that was killed
signal.pause()
