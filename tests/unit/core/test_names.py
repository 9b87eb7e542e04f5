from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from rocketchaos.harness.core.names import Names, new_token


def test_tokens_made_at_the_same_time_differ() -> None:
    with ThreadPoolExecutor(8) as pool:
        tokens = list(pool.map(lambda _: new_token(), range(2000)))
    assert len(set(tokens)) == len(tokens)


@given(st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,59}", fullmatch=True))
def test_names_go_there_and_back(name: str) -> None:
    names = Names(new_token())
    assert names.scenario(names.real(name)) == name
    assert names.scenario(f"%RETRY%{names.real(name)}") == f"%RETRY%{name}"
    # RocketMQ refuses topics of more than 127 characters.
    assert len(names.real(name)) <= 127


def test_names_of_others_stay_as_they_are() -> None:
    assert Names("t1").scenario("orders-t2") == "orders-t2"
