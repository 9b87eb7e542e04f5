"""What has changed from one look to the next, in sentences: in a group, and in the findings."""

from collections.abc import Iterator

from rocketchaos.harness.diagnose.diagnosis import Report
from rocketchaos.harness.diagnose.finding import Finding, Level
from rocketchaos.harness.diagnose.meaning import expression_text, meaning
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import clock, joined, queues_text


def changes(view: GroupView) -> Iterator[str]:
    """Members that came, left or fell silent, subscriptions, queues and offsets that changed."""
    before = view.before
    if before is None:
        return
    begin = f"{clock(view.now.at_ms)} group {view.group}"
    for client_id in sorted(set(view.members) - set(before.members)):
        yield f"{begin}: {client_id} has joined"
    for client_id in sorted(set(before.members) - set(view.members)):
        yield f"{begin}: {client_id} has left"
    was_silent, is_silent = ({item.client_id for item in of.silent} for of in (before, view))
    for client_id in sorted(is_silent - was_silent):
        yield f"{begin}: {client_id} doesn't answer"
    for client_id in sorted((was_silent - is_silent) & set(view.members)):
        yield f"{begin}: {client_id} answers again"
    for topic in view.topics:
        old, new = before.held(topic), view.held(topic)
        for broker in sorted(set(old) | set(new)):
            texts = [expression_text(held[broker]) if broker in held else None for held in (old, new)]
            if texts[0] != texts[1]:
                was, now = ("nothing" if text is None else f"`{text}`" for text in texts)
                same = broker in old and broker in new and meaning(old[broker]) == meaning(new[broker])
                alike = ", which means the same" if same else ""
                yield f"{begin}: {broker} held {was} for {topic}, and holds {now} now{alike}"
        owned, owns = before.owners(topic), view.owners(topic)
        # A member that doesn't answer may own any queue.
        for queue in sorted(set(owned) | set(owns)) if not was_silent | is_silent else ():
            was, now = (joined(sorted(of.get(queue, []))) or "no member" for of in (owned, owns))
            if was != now:
                yield f"{begin}: {queues_text([queue])} of {topic}: {was} owned it, {now} owns it now"
        for queue in view.queues(topic):
            had, has = before.offset(topic, queue), view.offset(topic, queue)
            if had is not None and has is not None and has < had:
                yield f"{begin}: the offset of {queues_text([queue])} of {topic} went back from {had} to {has}"


class FindingChanges:
    """Knows the findings of the look before: warnings and errors."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], Finding] = {}

    def of(self, report: Report) -> Iterator[str]:
        """Findings that are new, and those that are no longer there."""
        now = {(item.check.code, item.group, item.topic): item for item in report.at_least(Level.WARNING)}
        at = clock(report.looks[-1].at_ms)
        for place, finding in now.items():
            if place not in self._known:
                yield f"{at} {finding.level} {_named(finding)}: {finding.sentence}"
        for place, finding in self._known.items():
            if place not in now:
                yield f"{at} no longer found: {_named(finding)}"
        self._known = now


def _named(finding: Finding) -> str:
    return f"[{finding.check.code}] ({finding.resource}) {finding.check.title}"
