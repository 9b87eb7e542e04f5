"""Members whose clock differs from this machine's: by the times of their own pulls."""

from collections.abc import Iterator

from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result
from rocketchaos.harness.diagnose.model import Member
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import clock, joined

APART_MS = 10_000
_VERSION_AHEAD_MS = 60_000
"""From then on RC0105 reports it."""


def clocks(view: GroupView) -> Iterator[Result]:
    """Members that have pulled in the future, or that pull now and say it was long ago."""
    for client_id, member in sorted(view.members.items()):
        if any(item.version > view.now.at_ms + _VERSION_AHEAD_MS for item in member.subscriptions.values()):
            continue
        ahead, behind = ahead_ms(member), _behind_ms(view, member)
        if max(ahead, behind) > APART_MS:
            yield Found(
                f"{client_id}'s clock is at least {max(ahead, behind) / 1000:.0f} s "
                f"{'ahead of' if ahead > behind else 'behind'} this machine's",
                (
                    Evidence(
                        member.exchange,
                        f"lastPullTimestamp {clock(_last_pull_ms(member))}, "
                        f"asked at {clock(member.exchange.at_ms)}",
                    ),
                ),
            )


def ahead_ms(member: Member) -> int:
    """By how much a member's clock is at least ahead: nobody has pulled later than now."""
    answered_ms = member.exchange.at_ms + int(member.exchange.took_ms)
    return max(0, _last_pull_ms(member) - answered_ms)


def _behind_ms(view: GroupView, member: Member) -> int:
    """By how much it is at least behind: a pull between two looks can't be older than the first of them."""
    for look in view.looks[:-1]:
        before = look.members.get(view.group, {}).get(member.client_id)
        if before is not None and 0 < _last_pull_ms(before) < _last_pull_ms(member):
            return max(0, before.exchange.at_ms - _last_pull_ms(member))
    return 0


def _last_pull_ms(member: Member) -> int:
    return max(
        (held.last_pull_ms for queues in member.queues.values() for held in queues.values()), default=0
    )


def clocks_ahead(view: GroupView) -> str:
    """The members whose clock is ahead at this moment, by their own pulls, as a phrase."""
    found = {
        client_id: ahead
        for client_id, member in sorted(view.members.items())
        if (ahead := ahead_ms(member)) > APART_MS
    }
    clocks = [
        f"the clock of {client_id} is at least {ahead / 1000:.0f} s ahead"
        for client_id, ahead in found.items()
    ]
    return f"; {joined(clocks)}" if clocks else ""


CHECKS = (
    Check(
        "RC0215",
        "a member's clock differs",
        Level.WARNING,
        "",
        "A client stamps its subscription's version and its messages with this clock. From a clock that is ahead, "
        "a broker keeps a subscription that it should replace; consumeTimestamp and delays until a time are off "
        "too.",
        (
            "Set the clock of that member's host.",
            "If the clock was ahead, restart the member afterwards, so that it sends a new version.",
        ),
        ("A03",),
        of_group=clocks,
    ),
)
