"""How a Java listener fails, by its behaviour: with a status, with an exception, with null."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.workers.child import java_consumer
from rocketchaos.harness.workers.child.java_consumer import PushConsumer
from rocketchaos.harness.workers.child.listener import Abandoned

SUCCESS, FAILURE = "CONSUME_SUCCESS", "RECONSUME_LATER"


class JavaError(Exception):
    """Stands for java.lang.RuntimeException, which needs a JVM."""


def consumer_that(answers: Any, by: str) -> PushConsumer:
    """A consumer whose listener answers so; without RocketMQ."""

    def consume_all(messages: Any, context: Any) -> Any:
        del messages, context
        if isinstance(answers, Exception):
            raise answers
        return answers

    made = cast(Any, PushConsumer.__new__(PushConsumer))
    made._success, made._failure = SUCCESS, FAILURE
    made._listener = SimpleNamespace(by=by, report_error=lambda error: None)
    made._consume_all = consume_all
    return cast(PushConsumer, made)


@pytest.fixture(autouse=True)
def _without_a_jvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java_consumer, "jpype", SimpleNamespace(JClass=lambda _name: JavaError))


@pytest.mark.parametrize(("by", "answer"), [("status", FAILURE), ("nothing", None)])
def test_a_failure_is_a_status_or_null(by: str, answer: str | None) -> None:
    assert consumer_that(FAILURE, by)._consume([], None) == answer


def test_a_failure_is_an_exception() -> None:
    with pytest.raises(JavaError):
        consumer_that(FAILURE, "exception")._consume([], None)


@pytest.mark.parametrize("by", ["status", "exception", "nothing"])
def test_what_succeeds_and_what_is_left_alone_answers_as_ever(by: str) -> None:
    assert consumer_that(SUCCESS, by)._consume([], None) == SUCCESS
    assert consumer_that(Abandoned(), by)._consume([], None) == FAILURE
    assert consumer_that(ValueError("a defect"), by)._consume([], None) == FAILURE
