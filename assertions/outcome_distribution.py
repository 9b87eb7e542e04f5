"""`outcome-distribution`: how often a race ended how, over the iterations of a `repeat`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import SubscriptionObserved
from rocketchaos.harness.core.events.run import Bound
from rocketchaos.harness.core.intervals import wilson_interval
from rocketchaos.harness.language.words import ConsumerName, GroupName, TopicName, VariableName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class OutcomeDistribution(Check):
    """How often a variable, or a stored subscription, had each value over the iterations of a `repeat`.

    `of: $holder` counts each time that the variable was bound; `group` and `topic` count what the brokers
    held in each iteration's observation `at`. A limit is compared with the 95 % Wilson interval of the share:
    `share_at_least: 0.5` holds if all of the interval is at 0.5 or above, fails if all of it is below, and is
    unknown otherwise; more `times` make the interval narrower. The number of different values is a plain
    count: two prove a race, but one proves nothing about later iterations.
    """

    word = "outcome-distribution"
    example = "outcome-distribution: {of: $holder, consumer: b, share_at_least: 0.5}"

    of: VariableName | None = Field(default=None, description="the variable: `$holder`")
    consumer: ConsumerName | None = Field(
        default=None, description="with `of`: the consumer whose share counts"
    )
    group: GroupName | None = Field(default=None, description="in place of `of`: the group")
    topic: TopicName | None = Field(
        default=None, description="with `group`: the topic whose stored subscription counts"
    )
    expression: str | None = Field(
        default=None, description="with `group`: the stored expression whose share counts"
    )
    share_at_least: float | None = Field(
        default=None, ge=0, le=1, description="the share is at least this: `0.5`"
    )
    share_at_most: float | None = Field(default=None, ge=0, le=1, description="the share is at most this")
    values_at_least: int | None = Field(default=None, ge=1, description="at least this many different values")
    values_at_most: int | None = Field(default=None, ge=1, description="at most this many different values")

    @model_validator(mode="after")
    def _one_question(self) -> OutcomeDistribution:
        if (self.of is None) == (self.group is None):
            raise ValueError("give exactly one of `of` and `group`")
        if (self.group is None) != (self.topic is None):
            raise ValueError("`group` and `topic` go together")
        if (self.of is None and self.consumer) or (self.group is None and self.expression):
            raise ValueError("`consumer` goes with `of`, `expression` with `group`")
        shares = self.share_at_least is not None or self.share_at_most is not None
        if shares != (self.value is not None):
            what = "consumer" if self.of is not None else "expression"
            raise ValueError(f"`{what}` says whose share `share_at_least` and `share_at_most` mean")
        if not shares and self.values_at_least is None and self.values_at_most is None:
            raise ValueError("say `share_at_least`, `share_at_most`, `values_at_least` or `values_at_most`")
        return self

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        if self.of is not None and self.values_at_least is not None:
            times = scenario.times_bound(self.of)
            if self.values_at_least > times:
                yield f"{self.values_at_least} different values: {self.of} is bound {times} times"

    @property
    def value(self) -> str | None:
        """The value whose share is meant."""
        return self.consumer if self.of is not None else self.expression

    def title(self) -> str:
        return f"distribution of {self.of or f'the subscription of {self.group} for {self.topic}'}"

    def evaluate(self, view: RunView) -> Answer:
        expected, at = self._expected(), view.end_of(self.at)
        if at is None:
            return Answer(None, expected, f"the observation `{self.at}` was not made")
        found = self._bound(view, at) if self.of is not None else self._stored(view)
        if not found:
            what = self.of or f"the subscription of {self.group} for {self.topic}"
            return Answer(None, expected, f"{what} was never read")
        counts = Counter(value for value, _ in found)
        observed = ", ".join(
            f"{value} {count} of {len(found)} {_interval(count, len(found))}"
            for value, count in counts.most_common()
        )
        proof = [number for _, number in found]
        answers: list[bool | None] = [
            self.values_at_least is None or len(counts) >= self.values_at_least,
            self.values_at_most is None or len(counts) <= self.values_at_most,
        ]
        if self.value is not None:
            if self.value not in counts:
                observed += f", {self.value} 0 of {len(found)} {_interval(0, len(found))}"
            low, high = wilson_interval(counts[self.value], len(found))
            answers += [_at_least(self.share_at_least, low, high), _at_most(self.share_at_most, low, high)]
        holds = False if False in answers else None if None in answers else True
        return Answer(holds, expected, observed, proof)

    def _expected(self) -> str:
        limits = (
            (self.share_at_least, f"share of {self.value} at least {self.share_at_least}"),
            (self.share_at_most, f"share of {self.value} at most {self.share_at_most}"),
            (self.values_at_least, f"at least {self.values_at_least} different values"),
            (self.values_at_most, f"at most {self.values_at_most} different values"),
        )
        return ", ".join(text for limit, text in limits if limit is not None)

    def _bound(self, view: RunView, at: int) -> list[tuple[str, int]]:
        """Each value of the variable with the number of its event."""
        name = str(self.of)[1:]
        return [
            (", ".join(event.body.consumers) or "nobody", event.n)
            for event in view.of_kind(Bound, until=at)
            if event.body.variable == name
        ]

    def _stored(self, view: RunView) -> list[tuple[str, int]]:
        """The brokers' subscriptions in each iteration's observation; all of them if they differ."""
        found = []
        for moment in view.iterations_of(self.at):
            events = view.observed(SubscriptionObserved, moment, group=self.group)
            stored = [event.body.subscriptions.get(str(self.topic)) for event in events]
            texts = sorted({"none" if item is None else item.expression for item in stored})
            if events:
                found.append((" and ".join(texts), events[-1].n))
        return found


def _interval(count: int, total: int) -> str:
    low, high = wilson_interval(count, total)
    return f"(95 % interval {low:.2f} to {high:.2f})"


def _at_least(limit: float | None, low: float, high: float) -> bool | None:
    if limit is None or low >= limit:
        return True
    return False if high < limit else None


def _at_most(limit: float | None, low: float, high: float) -> bool | None:
    if limit is None or high <= limit:
        return True
    return False if low > limit else None
