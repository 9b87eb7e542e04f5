"""Popped messages that nobody acknowledged, and that their broker doesn't put back (5.x)."""

from __future__ import annotations

from collections.abc import Iterator

from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.checks.cluster import now_ms
from rocketchaos.harness.diagnose.checks.delays import untold
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result
from rocketchaos.harness.diagnose.model import Backlog, Broker
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.view import ClusterView
from rocketchaos.harness.diagnose.words import clock, counted

_LATE_MS = 60_000
"""A broker stores an entry when it is due, and handles it within seconds (PopReviveService, 5.0 to 5.5.0)."""


def behind(view: ClusterView) -> Iterator[Result]:
    """Revive queues whose offset stands still while entries are due."""
    silent = {
        name: item
        for name, known in view.now.backlogs.items()
        for item in _silent(view.now.brokers[name], known)
    }
    yield from untold("their popped messages", silent)
    for name, backlog in view.now.backlogs.items():
        for queue, checkpoint in sorted(backlog.checkpoints.items()):
            stored_ms = whole(read.mapping(checkpoint.document).get("storedAt"))
            late_ms = now_ms(view, name, checkpoint) - stored_ms
            if not stored_ms or late_ms <= _LATE_MS:
                continue
            entries = backlog.revive_entries[queue]
            begin = whole(entries.fields.get("index"))
            end = whole(read.mapping(entries.document).get("maxQueueIndex"))
            yield Found(
                f"{name}: revive queue {queue} is {counted(end - begin, 'entry', 'entries')} behind, and one has "
                f"been due for {late_ms / 1000:.0f} s",
                (
                    Evidence(entries, f"offset {begin}, the queue ends at {end}"),
                    Evidence(checkpoint, f"stored at {clock(stored_ms)}"),
                ),
                settled=False,
                key=f"{name} {queue} {begin}",
            )


def _silent(broker: Broker, backlog: Backlog) -> Iterator[Exchange]:
    asked = (backlog.revive, *backlog.revive_entries.values(), *backlog.checkpoints.values())
    if not broker.runtime:
        asked = (backlog.delayed,)  # it is unknown whether it is of 5.x
    for item in asked:
        if item is not None and not item.succeeded and item.answer_code != read.NO_TOPIC:
            yield item


CHECKS = (
    Check(
        "RC0814",
        "popped messages don't come back",
        Level.WARNING,
        "brokers put popped messages back in time",
        "Messages that a member popped and didn't acknowledge come to no other member until the broker handles "
        "these entries. The group's offset has passed them: no lag shows them.",
        (
            "Read pop.log and storeerror.log of that broker: a topic that was deleted, a full disk, or an error "
            "that repeats stops the queue.",
            "Check the broker's reviveInterval; restart the broker.",
        ),
        (),
        of_cluster=behind,
    ),
)
