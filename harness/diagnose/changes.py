"""What has changed from one look to the next, in sentences: in groups, findings, and whether servers answer."""

from collections.abc import Iterator, Mapping, Sequence

from rocketchaos.harness.diagnose.diagnosis import Report
from rocketchaos.harness.diagnose.finding import Finding, Level
from rocketchaos.harness.diagnose.meaning import expression_text, meaning
from rocketchaos.harness.diagnose.model import Look, Stored
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import clock, joined, queues_text


def changes(view: GroupView) -> Iterator[str]:
    """Members that came, left or fell silent, subscriptions, queues and offsets that changed.

    The last answer counts where a broker or a member gave none in between.
    """
    earlier = list(_earlier(view))
    if not earlier:
        return
    before = earlier[0]
    begin = f"{clock(view.now.at_ms)} group {view.group}"
    knew = next((past for past in earlier if not _is_blind(past)), None)
    if knew is not None and not _is_blind(view):
        for client_id in sorted(set(view.members) - set(knew.members)):
            yield f"{begin}: {client_id} has joined"
        for client_id in sorted(set(knew.members) - set(view.members)):
            yield f"{begin}: {client_id} has left"
    was_silent, is_silent = ({item.client_id for item in each.silent} for each in (before, view))
    for client_id in sorted(is_silent - was_silent):
        yield f"{begin}: {client_id} doesn't answer"
    for client_id in sorted((was_silent - is_silent) & set(view.members)):
        yield f"{begin}: {client_id} answers again"
    for topic in view.topics:
        for line in (
            *_held(view, earlier, topic),
            *_owned(view, earlier, topic),
            *_set_back(view, earlier, topic),
        ):
            yield f"{begin}: {line}"


def _earlier(view: GroupView) -> Iterator[GroupView]:
    """The looks before, the last one first."""
    while (before := view.before) is not None:
        yield before
        view = before


def _is_blind(view: GroupView) -> bool:
    """Whether no broker said who is online: members may run on."""
    return all(item.unknown for item in _stored(view).values())


def _held(view: GroupView, earlier: Sequence[GroupView], topic: str) -> Iterator[str]:
    for broker in sorted(name for name, item in _stored(view).items() if not item.unknown):
        answered = (past for past in earlier if broker in _stored(past) and not _stored(past)[broker].unknown)
        before = next(answered, None)
        if before is None:
            continue
        old, new = (each.held(topic).get(broker) for each in (before, view))
        was, now = ("nothing" if item is None else f"`{expression_text(item)}`" for item in (old, new))
        if was != now:
            same = old is not None and new is not None and meaning(old) == meaning(new)
            alike = ", which means the same" if same else ""
            yield f"{broker} held {was} for {topic}, and holds {now} now{alike}"


def _stored(view: GroupView) -> Mapping[str, Stored]:
    return view.now.stored.get(view.group, {})


def _owned(view: GroupView, earlier: Sequence[GroupView], topic: str) -> Iterator[str]:
    # A member that doesn't answer may own any queue.
    before = next((past for past in earlier if not (past.silent or _is_blind(past))), None)
    if view.silent or _is_blind(view) or before is None:
        return
    owned, owns = before.owners(topic), view.owners(topic)
    for queue in sorted(set(owned) | set(owns)):
        was, now = (joined(sorted(each.get(queue, []))) or "no member" for each in (owned, owns))
        if queue not in owns and queue not in view.queues(topic):
            yield f"{queues_text([queue])} of {topic}: {was} owned it, the route doesn't have it now"
        elif was != now:
            yield f"{queues_text([queue])} of {topic}: {was} owned it, {now} owns it now"


def _set_back(view: GroupView, earlier: Sequence[GroupView], topic: str) -> Iterator[str]:
    for queue in view.queues(topic):
        has = view.offset(topic, queue)
        had = next((offset for past in earlier if (offset := past.offset(topic, queue)) is not None), None)
        if had is not None and has is not None and has < had:
            yield f"the offset of {queues_text([queue])} of {topic} went back from {had} to {has}"


_Place = tuple[str, str, str]
"""Code, group and topic."""


class Reach:
    """Knows whether servers answered the look before."""

    def __init__(self) -> None:
        self._lost = False

    def lost(self, look: Look, why: str) -> Iterator[str]:
        """Servers that no longer answer, once."""
        if not self._lost:
            yield f"{clock(look.at_ms)} {why}"
        self._lost = True

    def of(self, report: Report) -> Iterator[str]:
        """Servers that answer again."""
        if self._lost:
            yield f"{clock(report.looks[-1].at_ms)} servers answer again"
        self._lost = False


def registrations(report: Report) -> Iterator[str]:
    """Brokers that have come, left, or have another address, as the name servers say."""
    if len(report.looks) < 2:
        return
    before, now = report.looks[-2:]
    begin = clock(now.at_ms)
    for name in sorted(set(before.brokers) | set(now.brokers)):
        was, known = (look.brokers[name].addresses if name in look.brokers else {} for look in (before, now))
        for number in sorted(set(was) | set(known)):
            server = f"broker {name}" if number == 0 else f"broker {name}, id {number},"
            if number not in known:
                yield f"{begin} {server} at {was[number]} is no longer registered"
            elif number not in was:
                yield f"{begin} {server} at {known[number]} is registered now"
            elif was[number] != known[number]:
                yield f"{begin} {server} was at {was[number]}, and is at {known[number]} now"


class FindingChanges:
    """Knows the findings of the look before: warnings and errors."""

    def __init__(self) -> None:
        self._known: dict[_Place, Finding] = {}
        self._unsure: set[_Place] = set()
        """Of these, those that the look before could neither find nor rule out."""

    def of(self, report: Report) -> Iterator[str]:
        """Findings that are new, those that have gone or are of level info now, and those of which a silent member
        or broker leaves this open."""
        now = {(item.check.code, item.group, item.topic): item for item in report.at_least(Level.WARNING)}
        less = {(item.check.code, item.group, item.topic) for item in report.findings} - set(now)
        unknown = {(item.check.code, item.group, item.topic) for item in report.undetermined}
        at = clock(report.looks[-1].at_ms)
        for place, finding in now.items():
            if place not in self._known or place in self._unsure:
                yield f"{at} {finding.level} {_named(finding)}: {finding.sentence}"
        unsure = set()
        for place, finding in self._known.items():
            if place in now:
                continue
            if place in less:
                yield f"{at} {Level.INFO} now: {_named(finding)}"
            elif place in unknown or (*place[:2], "") in unknown:
                unsure.add(place)
                if place not in self._unsure:
                    yield f"{at} undetermined now: {_named(finding)}"
            else:
                yield f"{at} no longer found: {_named(finding)}"
        self._known = {**{place: self._known[place] for place in unsure}, **now}
        self._unsure = unsure


def _named(finding: Finding) -> str:
    return f"[{finding.check.code}] ({finding.resource}) {finding.check.title}"
