"""A quiet look at subscriptions and offsets all through a run, so that the history knows when they changed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from rocketchaos.harness.core.machine_load import usable_cores
from rocketchaos.harness.probes.offsets_probe import read_offsets
from rocketchaos.harness.probes.subscription_probe import read_subscription
from rocketchaos.harness.probes.tracks_probe import watch_tracks

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

INTERVAL_S = 0.25
LOOKS_PER_CORE_AND_S = 8
"""All runs together look this often at most, so that watching costs the machine little."""


class Watch:
    """Reads what the brokers hold of every group (203) and its offsets, until it is stopped.

    Not who owns what: for each 307 a client asks its broker for offsets, and waits for them in the threads that
    handle its answers (`DefaultMQPushConsumerImpl.consumerRunningInfo`). Two at a time, on two cores, stalled
    5.5.0 clients until their heartbeats timed out and the group changed: observation must not do that.

    Tracks are read only where a check asks for their course.
    """

    def __init__(self, context: ProbeContext, run_count: Callable[[], int]) -> None:
        """
        Args:
            context: of the run.
            run_count: how many runs are under way on the cluster.
        """
        self._context = context
        self._run_count = run_count
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._observe_on, name="watch", daemon=True)
        self._last_error = ""

    def start(self) -> None:
        """Begin looking."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more; returns when the last look is over."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()

    def _observe_on(self) -> None:
        while not self._end.wait(interval_s(self._run_count(), usable_cores())):
            try:
                self._observe()
            except Exception as error:
                # A look that fails is no trouble of the run: steps and conditions find out for themselves. But
                # it must show, whatever it was, and the looks must go on.
                if repr(error) != self._last_error:
                    self._last_error = repr(error)
                    self._context.observations.note_failure("watch", self._last_error)

    def _observe(self) -> None:
        for group in self._context.scenario.groups:
            for broker in self._context.servers.keepers_of_group(group):
                read_subscription(self._context, group, broker)
            for topic in self._context.members.topics_of(group):
                if self._context.servers.why_not_asked(topic) is None:
                    read_offsets(self._context, group, topic)
        watch_tracks(self._context)


def interval_s(runs: int, cores: int) -> float:
    """How long each of several runs waits between two looks: 0.25 s, longer where many look at one cluster."""
    return max(INTERVAL_S, runs / (LOOKS_PER_CORE_AND_S * cores))
