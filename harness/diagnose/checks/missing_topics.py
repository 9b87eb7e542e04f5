"""Topics that a broker has lost, or never had, while other brokers have them."""

from collections.abc import Iterator

from rocketchaos.harness.diagnose.checks.cluster import TAKES_TURNS_S
from rocketchaos.harness.diagnose.checks.configuration import (
    WHOLE_TOPIC,
    not_on_every_broker,
    routed,
    without_topic,
)
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result
from rocketchaos.harness.diagnose.model import DEAD_LETTERS, RETRY
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import joined


def on_some_brokers(view: GroupView) -> Iterator[Result]:
    """Topics that some brokers don't have; where the group has an offset on one of them, it had the topic."""
    reported = {item.topic for item in not_on_every_broker(view)}  # RC0405
    for topic in view.present_topics:
        yield from _denied(view, topic)
        holders = {name for route in view.now.routes.get(topic, {}).values() for name in route.brokers}
        had = [
            name
            for name in sorted(set(view.now.brokers) - holders)
            if view.now.offsets.get(name, {}).get(view.group, {}).get(topic) is not None
        ]
        without = sorted({*without_topic(view, holders), *had})
        if (
            not holders
            or not without
            or topic in reported
            or view.is_static(topic)
            or topic.startswith((RETRY, DEAD_LETTERS))
        ):
            continue
        proof = tuple(
            Evidence(view.now.offset_tables[name], f"{name} has offsets of {view.group} in {topic}")
            for name in had
        )
        yield Found(
            f"{joined(had)} had it, and {'has' if len(had) == 1 else 'have'} it no more"
            if had
            else f"only {joined(sorted(holders))} {'has' if len(holders) == 1 else 'have'} it; without it: "
            f"{joined(without)}",
            (*routed(view, topic), *proof),
            topic,
            level=Level.WARNING if had else None,
            effect="The unread messages of that broker are gone with the topic. New messages go to the others."
            if had
            else "",
            settled=not had,
            key=",".join(had),
        )


def _denied(view: GroupView, topic: str) -> Iterator[Found]:
    """Brokers of the route that answer TOPIC_NOT_EXIST (17): name servers keep what a broker has deleted."""
    known = view.now.stats.get(topic, {})
    # A slave without a master (RC0808) may not have copied the topic yet.
    denying = {
        name: answer
        for name, answer in known.items()
        if answer.answer_code == 17 and 0 in view.now.brokers[name].addresses
    }
    if denying:
        young = [name for name in sorted(denying) if _younger_than_members(view, name)]
        other = (
            f"; {joined(young)} started after members that have {'its' if len(young) == 1 else 'their'} queues: "
            "without its store, or as another process of the same name"
            if young
            else ""
        )
        yield Found(
            f"{joined(sorted(denying))} {'is' if len(denying) == 1 else 'are'} in its route, and "
            f"{'says' if len(denying) == 1 else 'say'} that there is no such topic{other}",
            (*routed(view, topic), *(Evidence(answer, answer.why_not) for answer in denying.values())),
            topic,
            level=Level.ERROR,
            effect="Name servers still send clients there. The broker refuses their pulls, and their sends unless "
            "it creates topics automatically. The messages that were unread there are gone.",
            # Of two processes with one name the other one registers meanwhile: RC0802.
            settled=not young,
            key=",".join(sorted(denying)),
            lasts_s=TAKES_TURNS_S,
        )


def _younger_than_members(view: GroupView, broker: str) -> bool:
    """Whether a broker started after a member that has queues there."""
    booted_ms = whole(view.now.brokers[broker].runtime.get("bootTimestamp"))
    return any(
        0 < member.started_ms < booted_ms
        and any(queue[0] == broker for queues in member.queues.values() for queue in queues)
        for member in view.answered
    )


CHECKS = (
    Check(
        "RC0410",
        "some brokers don't have a topic",
        Level.INFO,
        "every broker has the topics",
        "None by itself: producers and consumers use the brokers that have it.",
        (
            "If every broker should have it, create it there: `mqadmin updateTopic -b`.",
            WHOLE_TOPIC,
            "If it was deleted on purpose and a route still has it: `mqadmin deleteTopic -c` deletes it at the "
            "name servers too.",
            "If a broker lost its store, or another process has taken its name (RC0802), correct that first.",
        ),
        of_group=on_some_brokers,
    ),
)
