"""What checks give, and what a check is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from rocketchaos.harness.diagnose.exchange import Exchange

MOST_ROUTED = 3
"""The number of topics whose routes are evidence, if a finding is about several."""
SETTLES_S = 25.0
"""Clients rebalance every 20 s: a state that lasts longer is no moment of a change."""
NEW_ROUTE_S = 55.0
"""Clients ask for routes every 30 s, and rebalance up to 20 s later: new queues have no owner until then."""
KILLED_LOCK_S = 85.0
"""A broker keeps the lock of an orderly member that was killed for 60 s (RebalanceLockManager); others ask for it
every 20 s, and have no such queue until then."""

if TYPE_CHECKING:
    from rocketchaos.harness.diagnose.fate import Lost
    from rocketchaos.harness.diagnose.view import ClusterView, GroupView


class Level(IntEnum):
    """How grave a finding is."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Evidence:
    """One answer, and what of it proves the finding."""

    exchange: Exchange
    says: str


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a check. The check itself has the rest of a finding."""

    sentence: str
    evidence: tuple[Evidence, ...]
    topic: str = ""
    level: Level | None = None
    """None: the check's own."""
    effect: str = ""
    """The effect on messages; empty: as in the check."""
    settled: bool = True
    """False: it may be a moment of a change; another look tells."""
    messages: tuple[Lost, ...] = ()
    """Messages that no listener gets, of all that were examined."""
    key: str = ""
    """What must stay the same from look to look for it to be no such moment."""
    lasts_s: float = SETTLES_S
    """How long it must last to be no such moment."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """What a check couldn't tell, and why; never OK."""

    reason: str
    evidence: tuple[Evidence, ...] = ()
    topic: str = ""
    look_again: bool = False
    """Another look may tell."""
    for_s: float = SETTLES_S
    """How long after the first look it may."""
    by_silence: bool = False
    """A member didn't answer, which RC0208 tells, or a broker didn't, which RC0803 tells."""
    silent: str = "members"
    """Who didn't, as a word."""


@dataclass(frozen=True, slots=True)
class Inapplicable:
    """The check has nothing to look at: it finds nothing, and rules nothing out."""


Result = Found | Unknown | Inapplicable


FAMILIES = {
    "RC01": "subscriptions",
    "RC02": "members",
    "RC03": "owners of queues",
    "RC04": "topics and settings",
    "RC05": "offsets",
    "RC06": "listeners",
    "RC07": "retries, dead letters",
    "RC08": "servers",
}
"""What checks look at, by the beginning of their codes."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that may be wrong, under a code that never means anything else."""

    code: str
    title: str
    """What is wrong, in a few words."""
    level: Level
    ruled_out: str
    """The result if the check finds nothing; empty: the report doesn't mention it."""
    effect: str
    """The effect on messages."""
    change: tuple[str, ...]
    """What to do about it, in this order."""
    claims: tuple[str, ...] = ()
    """Of `rocketchaos explain`, and CLAIMS.md."""
    by_members: bool = False
    """Without the answer of each member, nothing is ruled out."""
    by_subscriptions: bool = False
    """Nothing is ruled out as long as the subscriptions of a member are unknown."""
    by_brokers: bool = False
    """Without the answer of each broker, nothing is ruled out."""
    caveat: str = ""
    """What `ruled_out` doesn't cover, and how to see that."""
    of_group: Callable[[GroupView], Iterable[Result]] | None = None
    of_cluster: Callable[[ClusterView], Iterable[Result]] | None = None

    @property
    def known(self) -> str:
        """`ruled_out`, with its caveat."""
        return "; ".join(filter(None, (self.ruled_out, self.caveat)))


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, with what proves it."""

    check: Check
    level: Level
    group: str
    """Empty: it is the cluster's."""
    topic: str
    sentence: str
    effect: str
    evidence: tuple[Evidence, ...]
    messages: tuple[Lost, ...] = ()

    @property
    def resource(self) -> str:
        """`group g, topic t`."""
        return _resource(self.group, self.topic)

    @property
    def headline(self) -> str:
        """`error [RC0101] (group g, topic t) members of one group subscribe differently: …`."""
        return f"{self.level} [{self.check.code}] ({self.resource}) {self.check.title}: {self.sentence}"


def distinct(findings: Iterable[Finding]) -> list[tuple[Finding, list[str]]]:
    """Each statement once, with the further groups of which it holds word by word, as of their common topic."""
    found: dict[tuple[object, ...], tuple[Finding, list[str]]] = {}
    for item in findings:
        proof = tuple(evidence.says for evidence in item.evidence)
        words = (item.check.code, item.level, item.topic, item.sentence, item.effect, item.messages, proof)
        if words in found:
            found[words][1].append(item.group)
        else:
            found[words] = (item, [])
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Undetermined:
    """A check that could not tell."""

    check: Check
    group: str
    topic: str
    reason: str
    evidence: tuple[Evidence, ...]
    by_silence: bool = False
    """As of `Unknown`."""
    silent: str = "members"

    @property
    def resource(self) -> str:
        """`group g, topic t`."""
        return _resource(self.group, self.topic)


@dataclass(frozen=True, slots=True)
class RuledOut:
    """A check that looked, and found nothing."""

    check: Check
    group: str


def _resource(group: str, topic: str) -> str:
    parts = [f"group {group}"] if group else ["cluster"]
    return ", ".join([*parts, f"topic {topic}"] if topic else parts)
