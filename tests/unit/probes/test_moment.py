"""What fails in a look at a moment, and is none of the run's trouble."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.probes import moment


def _context(notes: list[str], *, by_sending: bool) -> Any:
    return SimpleNamespace(
        observations=SimpleNamespace(note_failure=lambda _probe, reason, **_of: notes.append(reason)),
        members=SimpleNamespace(topics_of=lambda _group: ("orders",)),
        servers=SimpleNamespace(
            keepers_of_group=lambda _group: (),
            why_not_asked=lambda _topic: None,
            may_lack=lambda _topic: by_sending,
            down={},
        ),
        faults=SimpleNamespace(active=dict),
    )


@pytest.mark.parametrize(
    ("by_sending", "code", "goes_on"), [(True, 17, True), (False, 17, False), (True, 1, False)]
)
def test_a_topic_that_every_sending_was_refused_to_make_has_no_offsets(
    monkeypatch: pytest.MonkeyPatch, by_sending: bool, code: int, goes_on: bool
) -> None:
    def fails(*_: object) -> None:
        raise RequestFailed("No topic route info", code)

    monkeypatch.setattr(moment, "read_offsets", fails)
    monkeypatch.setattr(moment, "read_dead_letters", lambda *_: None)
    notes: list[str] = []
    context = _context(notes, by_sending=by_sending)
    if goes_on:
        moment._read_group(cast(Any, context), "g", "end")
        assert notes == ["there is no such topic: No topic route info"]
    else:
        with pytest.raises(RequestFailed):
            moment._read_group(cast(Any, context), "g", "end")


def test_a_name_server_that_is_not_ready_yet_gives_no_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RequestFailed("127.0.0.1:9876: name server not ready", 1)

    monkeypatch.setattr(moment, "read_offsets", fails)
    monkeypatch.setattr(moment, "read_dead_letters", lambda *_: None)
    notes: list[str] = []
    moment._read_group(cast(Any, _context(notes, by_sending=False)), "g", "end")
    assert notes == ["127.0.0.1:9876: name server not ready"]
