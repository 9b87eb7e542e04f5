"""`start` with `may_be_refused`: what is a refusal, and what is trouble."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.steps.context import StepContext
from rocketchaos.harness.steps.start import Start


class Consumer:
    """One whose client's start() throws."""

    def __init__(self, failure: RequestFailed) -> None:
        self.failure = failure
        self.written: list[RequestFailed] = []

    def start(self) -> None:
        raise self.failure

    def refused(self, failure: RequestFailed) -> None:
        self.written.append(failure)


def starting(failure: RequestFailed, *, may_be_refused: bool) -> Consumer:
    consumer = Consumer(failure)
    context = SimpleNamespace(variables=SimpleNamespace(resolve=list), consumers={"a": consumer})
    Start(consumers=("a",), may_be_refused=may_be_refused).run(cast(StepContext, context))
    return consumer


def test_what_a_broker_refuses_is_written_down_where_it_may_be() -> None:
    refusal = RequestFailed("The broker does not support consumer to filter message by SQL92", code=1)
    assert starting(refusal, may_be_refused=True).written == [refusal]
    with pytest.raises(RequestFailed, match="SQL92"):
        starting(refusal, may_be_refused=False)


def test_a_broker_that_could_not_be_asked_has_refused_nothing() -> None:
    with pytest.raises(RequestFailed, match="timeout"):
        starting(
            RequestFailed("RemotingTimeoutException: wait response timeout", code=None), may_be_refused=True
        )


@pytest.mark.parametrize(
    ("exceptions", "refused"),
    [
        (["MQClientException"], True),
        (["MQClientException", "RuntimeException"], True),
        (["MQClientException", "RemotingConnectException"], False),
        (["RemotingTimeoutException"], False),
    ],
    ids=str,
)
def test_what_the_client_itself_refuses_has_no_code(exceptions: list[str], refused: bool) -> None:
    failure = RequestFailed("The consumer group[g] has been created before", None, exceptions)
    if refused:
        assert starting(failure, may_be_refused=True).written == [failure]
        return
    with pytest.raises(RequestFailed):
        starting(failure, may_be_refused=True)
