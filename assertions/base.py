"""The base class of all checks."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from rocketchaos.assertions.event_view import END
from rocketchaos.assertions.limits import keeps, pairs
from rocketchaos.assertions.too_early import TooEarly
from rocketchaos.assertions.where import Where
from rocketchaos.harness.core.model import Finding, Holds
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.language.words import MomentName, Word

if TYPE_CHECKING:
    from rocketchaos.assertions.reach import Reach
    from rocketchaos.assertions.view import RunView
    from rocketchaos.harness.scenario.model import Scenario


class Check(Word, ABC):
    """One statement about a run. Pure: it reads the history and nothing else."""

    claim: str | None = Field(
        default=None,
        pattern=r"^[A-Z]\d{2}$",
        description="the claim that this check confirms if it holds, `B01`",
    )
    refutes: str | None = Field(
        default=None,
        pattern=r"^[A-Z]\d{2}$",
        description="the claim whose contrary is observed if this check holds, `A07`",
    )
    at: MomentName = Field(
        default=END,
        description="the observation that the check reads: an `observe` step's name, or `end`, which every "
        "run makes",
    )

    where: Where | None = Field(
        default=None,
        description='the runs in which the check is used, `{client: java}`, `{rocketmq: ">=5.0"}`; default all',
    )

    @model_validator(mode="after")
    def _not_for_and_against(self) -> Check:
        if self.claim is not None and self.claim == self.refutes:
            raise ValueError(f"one check can't confirm {self.claim} and refute it")
        return self

    @model_validator(mode="after")
    def _limits_leave_room(self) -> Check:
        for least, most in pairs(type(self).model_fields):
            low, high = getattr(self, least), getattr(self, most)
            if low is not None and high is not None and low > high:
                raise ValueError(f"`{least}` is more than `{most}`: nothing can keep both")
        return self

    def problems(self, scenario: Scenario) -> Iterator[str]:
        """Why nothing can ever fulfil it in this scenario, whose names are all defined; one sentence each."""
        del scenario  # most checks have nothing to say
        yield from ()

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        """The numbers that no run of this scenario can reach; one sentence each."""
        del scenario  # most checks state no number
        yield from ()

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        """Its probable slips in this scenario; one sentence each."""
        del scenario  # most checks have nothing to say
        yield from ()

    def reach(self, scenario: Scenario) -> Reach | None:
        """How many messages reach whose listeners where it holds; None if it doesn't say."""
        del scenario  # most checks don't
        return None

    @property
    def identity(self) -> str:
        """The word and its keys, `delivered {"count":4,"to":"b"}`: never its title. The claim that it belongs to
        is no part of its statement.
        """
        said = self.model_dump(mode="json", exclude_defaults=True, exclude={"claim", "refutes"})
        return f"{self.word} {json.dumps(said, sort_keys=True, separators=(',', ':'), ensure_ascii=False)}"

    @abstractmethod
    def title(self) -> str:
        """The statement in a few words: `delivered to $holder`."""

    @abstractmethod
    def evaluate(self, view: RunView) -> Answer:
        """Compare the statement with the run."""


class Answer:
    """A check's answer; `Holds.UNKNOWN` if the history lacks the evidence."""

    __slots__ = ("events", "expected", "holds", "observed", "too_early")

    def __init__(
        self,
        holds: bool | None,
        expected: str,
        observed: str,
        events: tuple[int, ...] | list[int] = (),
        *,
        too_early: TooEarly | None = None,
    ) -> None:
        self.holds = Holds.UNKNOWN if holds is None else Holds.YES if holds else Holds.NO
        self.expected = expected
        self.observed = observed
        self.events = tuple(sorted(set(events)))
        self.too_early = too_early
        """Set where it is unknown for lack of time."""


class Count(Check):
    """A check that counts. Exactly one of `count`, `at_least`, `at_most` says how many."""

    count: int | None = Field(default=None, ge=0, description="exactly this many")
    at_least: int | None = Field(default=None, ge=0, description="at least this many")
    at_most: int | None = Field(default=None, ge=0, description="at most this many")

    @model_validator(mode="after")
    def _one_of_three(self) -> Count:
        given = [value for value in (self.count, self.at_least, self.at_most) if value is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of `count`, `at_least`, `at_most`")
        return self

    @property
    def asks_for_some(self) -> bool:
        """Whether none would be too few."""
        return not self.fits(0)

    @property
    def states_none(self) -> bool:
        """Whether it says that there is none: `count: 0` or `at_most: 0`."""
        return self.count == 0 or self.at_most == 0

    def fits(self, number: int) -> bool:
        """Whether `number` is as many as stated."""
        if self.count is not None:
            return number == self.count
        return keeps(number, self.at_least, self.at_most)

    def is_final(self, number: int) -> bool:
        """Whether `number` decides, however many more may come."""
        if self.at_least is not None:
            return number >= self.at_least
        limit = self.at_most if self.count is None else self.count
        return limit is not None and number > limit

    def asks_for_more(self, most: int) -> bool:
        """Whether `most` are too few."""
        least = self.at_least if self.count is None else self.count
        return least is not None and least > most

    def always(self, most: int) -> Iterator[str]:
        """A doubt if the check states more than `most`, which no run can exceed."""
        if most and self.at_most is not None and self.at_most >= most:
            yield f"`at_most` of {self.at_most} holds whatever comes: there can't be more than {most}"

    def how_many(self, word: str = "", plural: str | None = None) -> str:
        """`4`, `at least 1`, `at most 3`; with a word `4 messages`, `at least 1 message`."""
        bound, number = "", self.count
        if number is None:
            bound = "at least " if self.at_least is not None else "at most "
            number = self.at_least if self.at_least is not None else self.at_most
        assert number is not None
        return bound + (counted(number, word, plural) if word else str(number))


class CountSoFar(Count):
    """A check that counts what comes, for which more may still come."""

    so_far: bool = Field(
        default=False,
        description="what had come by the observation counts, whether or not more comes later: "
        "`{…, count: 0, at: away, so_far: true}`",
    )

    def how_many(self, word: str = "", plural: str | None = None) -> str:
        return super().how_many(word, plural) + (" so far" if self.so_far else "")


def finding(check: Check, section: str, answer: Answer, line: int | None = None) -> Finding:
    """The answer as part of an outcome."""
    return Finding(
        section=section,
        name=check.title(),
        holds=answer.holds,
        expected=answer.expected,
        observed=answer.observed,
        events=answer.events,
        claim=check.claim,
        refutes=check.refutes,
        line=line,
        id=check.identity,
    )
