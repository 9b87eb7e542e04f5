"""What the history says of a run that could not be completed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import (
    EnvironmentNotReady,
    NodeEnded,
    PreconditionNotMet,
    RocketchaosError,
)
from rocketchaos.harness.core.events.run import RunTrouble
from rocketchaos.harness.core.events.servers import MqadminRan
from rocketchaos.harness.core.history import History
from rocketchaos.harness.engine.run_failures import Failures

WENT_WELL = "#Topic  #Broker Name\norders  broker-a\n"
WRONG_USAGE = (
    "The option 'c' was specified but an option from this group has already been selected: 'b'\n"
    "usage: mqadmin updateStaticTopic -b <arg> | -c <arg> -t <arg>\n"
)
FAILED = (
    "org.apache.rocketmq.tools.command.SubCommandException: UpdateStaticTopicSubCommand command failed\n"
    "\tat org.apache.rocketmq.tools.command.MQAdminStartup.main(MQAdminStartup.java:100)\n"
    "Caused by: java.lang.RuntimeException: Fail to find nameserver\n\t... 2 more\n"
)
UNREACHED = "settle: 8 messages delivered to a not reached within 40 s"


def noted(failure: RocketchaosError, *outputs: str) -> str:
    history = History("run")
    for output in outputs:
        command = ("updateStaticTopic", "-t", "<orders>")
        history.append(
            "harness", MqadminRan(name="m", command=command, exit_code=0, output=output, seconds=1.0)
        )
    Failures(history, cast(Any, None), Path()).note_failure(failure)
    return next(event.body.message for event in history.events if isinstance(event.body, RunTrouble))


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (WRONG_USAGE, "; before that mqadmin updateStaticTopic failed: The option 'c' was specified but"),
        (
            FAILED,
            "; before that mqadmin updateStaticTopic failed: Caused by: java.lang.RuntimeException: Fail to",
        ),
    ],
)
def test_a_tool_that_failed_before_is_part_of_the_reason(output: str, said: str) -> None:
    assert noted(PreconditionNotMet(UNREACHED), WENT_WELL, output).startswith(UNREACHED + said)


def test_a_hint_stays_behind_the_reason() -> None:
    text = noted(PreconditionNotMet(UNREACHED, "Give it longer."), WRONG_USAGE)
    assert text.index("before that mqadmin") < text.index("Give it longer.")


def test_a_tool_that_went_well_since_is_none() -> None:
    assert noted(PreconditionNotMet(UNREACHED), WRONG_USAGE, WENT_WELL) == UNREACHED
    assert noted(PreconditionNotMet(UNREACHED)) == UNREACHED
    assert noted(EnvironmentNotReady("no disk"), WRONG_USAGE) == "no disk"


def test_a_server_that_ended_as_it_started_is_the_cause_with_its_way_out() -> None:
    history = History("run")
    died = EnvironmentNotReady(
        "the server broker-a died: exit code 253", "Its log is in the run folder, logs/."
    )
    failures = Failures(history, cast(Any, SimpleNamespace(deeper_cause=lambda: died)), Path())
    failures.context = cast(Any, object())
    failures.note_failure(
        NodeEnded("broker-a could not be started: ended with exit code 253", "Its end.", "253")
    )
    messages = [event.body.message for event in history.events if isinstance(event.body, RunTrouble)]
    assert messages == ["broker-a could not be started: ended with exit code 253\n  Its end."]
