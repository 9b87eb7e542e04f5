from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.history import History, from_json, read_history, to_json
from rocketchaos.harness.core.model import Event


def written(path: Path, count: int = 3) -> History:
    history = History("run", path)
    for number in range(count):
        history.append("a", "of-a-test", {"key": f"orders-{number}", "tag": "täg\n"})
    return history


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    history = written(tmp_path / "events.jsonl")
    read = read_history(tmp_path / "events.jsonl")
    assert read.events == history.events
    assert read.damage is None
    assert [event.n for event in read.events] == [1, 2, 3]


def test_readable_after_a_crash_at_any_byte(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    whole = written(path).events
    content = path.read_bytes()
    torn = tmp_path / "torn.jsonl"
    for length in range(len(content) + 1):
        torn.write_bytes(content[:length])
        read = read_history(torn)
        assert read.events == whole[: len(read.events)]
        complete = content[:length].count(b"\n")
        # A line that only lacks its newline is whole as well.
        assert len(read.events) in (complete, complete + 1)
        if length and not content[:length].endswith(b"\n") and len(read.events) == complete:
            assert read.damage is not None


def test_several_threads_lose_nothing(tmp_path: Path) -> None:
    history = History("run", tmp_path / "events.jsonl")
    threads = [
        threading.Thread(target=lambda: [history.append("a", "k", {"x": "y" * 500}) for _ in range(200)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = read_history(tmp_path / "events.jsonl").events
    assert [event.n for event in events] == list(range(1, 801))


def test_a_full_disk_is_named_and_the_event_stays_in_memory() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.fail("this test needs /dev/full, which Linux has")
    history = History("run")
    history._fd = os.open(full, os.O_WRONLY)
    with pytest.raises(EnvironmentNotReady, match="history can't be written"):
        history.append("a", "k")
    assert [event.kind for event in history.events] == ["k"]


def test_a_history_never_overwrites_another(tmp_path: Path) -> None:
    written(tmp_path / "events.jsonl")
    with pytest.raises(FileExistsError):
        History("run", tmp_path / "events.jsonl")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(data=st.dictionaries(st.text(), json_values, max_size=4), node=st.text(), kind=st.text())
def test_every_event_survives_json(data: dict[str, object], node: str, kind: str) -> None:
    event = Event(1, 2, 3, "run", node, kind, data)
    assert from_json(to_json(event)) == event
