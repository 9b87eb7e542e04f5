"""A consumer that is a program of the user's."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.language.consumer_spec import Consumer


def consumer(**fields: Any) -> Consumer:
    return Consumer.model_validate({"group": "g", "subscribe": {"orders": "tagA"}, **fields})


def test_placeholders_stand_for_addresses_wherever_the_program_gets_a_text() -> None:
    app = App.model_validate(
        {
            "jar": "a.jar",
            "args": ["--namesrv=$nameserver", 8080, True],
            "jvm_args": ["-Da=$nameserver"],
            "properties": {"b": "$nameserver"},
            "env": {"C": "tcp://$nameserver/", "PORT": 8080},
        }
    )
    told = app.placed("127.0.0.1:9876")
    assert told.args == ("--namesrv=127.0.0.1:9876", "8080", "true")
    assert told.jvm_args == ("-Da=127.0.0.1:9876",)
    assert told.properties == {"b": "127.0.0.1:9876"}
    assert told.env == {"C": "tcp://127.0.0.1:9876/", "PORT": "8080"}
    assert told.jar == "a.jar"


def test_a_program_is_a_client_of_its_own() -> None:
    own = consumer(app={"jar": "a.jar"})
    assert own.choice.kind.users_program
    assert own.needs_own_process
    assert not own.traits.counts_pulls


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"app": {"jar": "a.jar"}, "client": "java"}, "`app` is a client itself: leave out `client: java`"),
        ({"client": "app"}, "`app` says which"),
        ({"app": {"jar": "a.jar"}, "behaviour": "block"}, "the program decides on this itself"),
        ({"app": {"jar": "a.jar"}, "listener": "orderly"}, "leave out `listener`"),
        ({"app": {"jar": "a.jar"}, "api": "pop"}, "has no `api: pop`"),
        ({"app": {"jar": "a.jar"}, "beside": "b"}, "`beside` says which program it is in"),
        ({"app": {"jar": ""}}, "at least 1 character"),
        ({"app": {}}, "jar"),
        ({"app": {"jar": "a.jar", "argv": []}}, "argv"),
    ],
)
def test_what_can_not_be_meant_is_told(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        consumer(**fields)
