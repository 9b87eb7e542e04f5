"""Topics that the group has consumed, and to which none of its members subscribes now."""

from collections.abc import Iterator

from rocketchaos.harness.diagnose.checks.offsets import evidence
from rocketchaos.harness.diagnose.fate import stranded
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted


def left(view: GroupView) -> Iterator[Result]:
    """Topics with a lag that no member subscribes to."""
    for topic in view.topics:
        if not view.has_left(topic):
            continue
        known = [queue for queue in view.ends(topic) if view.offset(topic, queue) is not None]
        waits = stranded(view, topic, known)
        if waits:
            count = sum(item.count for item in waits)
            subscribed = [
                Evidence(
                    item.shown_by, f"{item.client_id} subscribes to {', '.join(sorted(item.subscriptions))}"
                )
                for item in view.members.values()
            ]
            yield Found(
                f"the group has consumed it, no member subscribes to it now, and "
                f"{counted(count, 'message')} {'waits' if count == 1 else 'wait'}",
                (*subscribed, *evidence(view, topic, known)),
                topic,
                messages=tuple(waits),
            )


CHECKS = (
    Check(
        "RC0508",
        "the group has left a topic",
        Level.INFO,
        "",
        "No member gets the topic's messages, and tools show a lag that grows. If the group doesn't need them, "
        "that is as it should be.",
        (
            "If the group is to consume the topic, subscribe to it on all members: a deployment may have lost it.",
            "Otherwise nothing: leave the topic out of alarms on lag.",
        ),
        of_group=left,
    ),
)
