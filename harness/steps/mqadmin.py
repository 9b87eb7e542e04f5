"""`mqadmin`: a command of RocketMQ's own tools, and what it prints."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from pydantic import Field, field_validator

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.events.servers import MqadminRan
from rocketchaos.harness.language.words import AccountRef, DurationMs
from rocketchaos.harness.rocketmq.mqadmin_commands import command_doubt
from rocketchaos.harness.steps.base import Step
from rocketchaos.harness.steps.real_names import (
    in_scenarios_names,
    scenarios_own,
    unknown_names,
    with_real_names,
)

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

_TEXT_LIMIT = 100_000
"""Characters of the output that the history keeps."""
_CREATES_A_TOPIC = "updateTopic"
_DELETES_A_TOPIC = "deleteTopic"
_SENDING = ("sendMessage", "checkMsgSendRT")
_OF_SERVERS = frozenset(
    {
        *("updateBrokerConfig", "updateNamesrvConfig", "updateKvConfig", "deleteKvConfig"),
        *("wipeWritePerm", "addWritePerm", "cleanExpiredCQ", "cleanUnusedTopic", "deleteExpiredCommitLog"),
        *("resetMasterFlushOffset", "setCommitLogReadAheadMode", "switchTimerEngine"),
        *("updateColdDataFlowCtrGroupConfig", "removeColdDataFlowCtrGroupConfig"),
    }
)
"""What changes a server for everybody, so that no other run may share it."""

_NO_NAMES = frozenset({"-a", "-b", "-c", "-k", "-p", "-v"})
"""Options whose values are no topics and no groups: attributes, addresses, texts."""


class Mqadmin(Step):
    """Run one command of RocketMQ's `mqadmin`, the tools of the brokers' version, and record what it prints.

    Names in angle brackets stand for the real ones, as with `ask`: `<g>`, `<orders>`, `<a>`, `<orders-1>`,
    and the time of a message, `resetOffsetByTime -s <orders-1.stored> -g <g> -t <orders>`. In the output the
    real names become the scenario's again, `g` and `a`; ids of messages, and addresses, stay as they are.
    `<broker-a>` is an address, `brokerStatus -b <broker-a>`. The cluster's name is `rocketchaos`,
    `deleteTopic -c rocketchaos -t <orders>`. The harness adds `-n`. If the command has not ended after
    `within`, it is killed, and the run is inconclusive, unless the step has `goes_on`. On a cluster with
    accounts it needs an `account`. A command that changes a server for everybody, such as `wipeWritePerm`,
    gets a cluster of its own. The check `mqadmin: {of: progress, …}` states what the output must have.
    """

    word = "mqadmin"
    example = "mqadmin: {as: progress, command: consumerProgress -g <g>}"

    name: str = Field(
        alias="as", pattern=r"^[a-z][a-z0-9-]*$", description="the name by which checks find the output"
    )
    command: str = Field(
        min_length=1,
        max_length=10_000,
        description="the command and its arguments, as in a shell: `resetOffsetByTime -g <g> -t <orders> -s now`",
    )
    within: DurationMs = Field(default=60_000, gt=0, le=600_000, description="how long it may take")
    goes_on: bool = Field(
        default=False,
        description="it doesn't end by itself, as `clusterList -i 1` doesn't: it is killed after `within`, and "
        "what it has printed by then counts",
    )
    account: AccountRef | None = Field(
        default=None,
        description="the account of `cluster: {accounts: …}` with which it signs its requests, as those of "
        "`conf/tools.yml` do; default: it signs nothing",
    )

    @field_validator("command")
    @classmethod
    def _has_words(cls, text: str) -> str:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise ValueError(f"{error}: each quote needs a second one") from error
        if not words:
            raise ValueError("say which command: `consumerProgress -g <g>`")
        if {"-n", "--namesrvAddr"} & set(words):
            raise ValueError("leave `-n` out: the harness adds the name servers")
        return text

    @property
    def sends_unseen(self) -> bool:
        return shlex.split(self.command)[0] in _SENDING

    def creates_on(self, broker: str, scenario: Scenario) -> tuple[str, ...]:
        words = shlex.split(self.command)
        there = f"<{broker}>" in words or {"-c", "--clusterName"} & {*words}
        if words[0] != _CREATES_A_TOPIC or not there:
            return ()
        return tuple(topic for topic in scenario.topics if {topic, f"<{topic}>"} & {*words})

    def defines(self) -> tuple[tuple[str, str], ...]:
        return (("mqadmin", self.name),)

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        del scenario
        if shlex.split(self.command)[0] in _OF_SERVERS:
            yield "configure"

    def problems(self, scenario: Scenario) -> Iterator[str]:
        yield from unknown_names((self.command,), scenario)

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        words = shlex.split(self.command)
        if (doubt := command_doubt(words[0])) is not None:
            yield doubt
        values = (value for flag, value in pairwise(words) if flag.startswith("-") and flag not in _NO_NAMES)
        yield from scenarios_own(values, scenario)
        if scenario.cluster.accounts and self.account is None and not self.goes_on:
            first = next(iter(scenario.cluster.accounts))
            yield f"it signs nothing, so brokers refuse it: write `account: {first}`, one with `admin: true`"

    def run(self, context: StepContext) -> None:
        words = shlex.split(self.command)
        arguments = with_real_names(words, context, self.word)
        ran = context.admin.mqadmin(arguments, self.within / 1000, self.account)
        context.history.append(
            "harness",
            MqadminRan(
                name=self.name,
                command=tuple(words),
                exit_code=ran["exit_code"],
                output=in_scenarios_names(ran["output"], context)[:_TEXT_LIMIT],
                seconds=ran["seconds"],
            ),
        )
        if ran["exit_code"] is None and not self.goes_on:
            said = ran["output"].strip().splitlines()
            raise PreconditionNotMet(
                f"mqadmin {words[0]} had not ended after {self.within / 1000:g} s; "
                + (f"its last line: {said[-1][:200]!r}" if said else "it printed nothing")
            )
        if words[0] == _DELETES_A_TOPIC:
            # From here on nobody has its queues: that a look finds none is no error.
            for topic in context.scenario.topics:
                if f"<{topic}>" in words:
                    context.servers.topic_deleted(topic)
