"""Which properties a producer's `settings` may set, by its client."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rocketchaos.harness.language.producer_spec import Producer


def producer(client: str, **settings: Any) -> Producer:
    return Producer.model_validate({"client": client, "settings": settings})


def test_a_go_producer_retries_as_it_is_set() -> None:
    set_so = {"retryTimesWhenSendFailed": 2, "sendMsgTimeout": 500}
    assert producer("go", **set_so).settings == producer("java", **set_so).settings == set_so


def test_what_a_client_lacks_is_refused_by_name() -> None:
    takes = (
        "`settings`: go has no `compressLevel` here, only `retryTimesWhenSendFailed`, `sendMsgTimeout`: leave"
    )
    with pytest.raises(ValidationError, match=takes):
        producer("go", compressLevel=1)
    with pytest.raises(
        ValidationError, match="`settings`: python has no `sendMsgTimeout` here, none: leave it out"
    ):
        producer("python", sendMsgTimeout=500)
