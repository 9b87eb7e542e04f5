"""A spare worker, for tests of them. There is no RocketMQ in it."""

import argparse
import signal
from pathlib import Path

from rocketchaos.harness.workers.child.spare import Spare
from rocketchaos.harness.workers.protocol import EventPipe, serve

parser = argparse.ArgumentParser()
parser.add_argument("--events-fd", type=int, required=True)
parser.add_argument("--spare", type=Path, required=True)
signal.alarm(120)  # a spare outlives its parent
serve(EventPipe(Spare(parser.parse_args().spare).wait_until_taken()), {})
