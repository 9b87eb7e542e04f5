"""`refuted`: one of the scenario's own checks is seen not to hold."""

from typing import Literal

from pydantic import Field

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds


class Refuted(Check):
    """At least one check of `anomaly` was seen not to hold; an unknown one doesn't count.

    Runs recorded from Python use it as their `healthy` section, because a test states only its anomaly. In a
    scenario of your own, prefer to state what the run shows without the anomaly.
    """

    word = "refuted"
    example = "refuted: anomaly"
    shorthand = "section"

    section: Literal["anomaly"] = Field(description="whose checks")

    def title(self) -> str:
        return f"a check of {self.section} refuted"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"a check of {self.section} is seen not to hold"
        checks = [check for check in view.scenario.anomaly if not isinstance(check, Refuted)]
        answers = [(check.title(), check.evaluate(view)) for check in checks]
        refuted = [(title, answer) for title, answer in answers if answer.holds is Holds.NO]
        if refuted:
            observed = "; ".join(f"{title}: {answer.observed}" for title, answer in refuted)
            return Answer(True, expected, observed, [n for _, answer in refuted for n in answer.events])
        holding = sum(1 for _, answer in answers if answer.holds is Holds.YES)
        if answers and holding == len(answers):
            return Answer(
                False, expected, f"all {holding} hold", [n for _, item in answers for n in item.events]
            )
        return Answer(None, expected, f"{holding} of {len(answers)} hold, the others can't be said")
