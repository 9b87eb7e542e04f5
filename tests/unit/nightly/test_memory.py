"""Giving memory back."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import weakref
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from rocketchaos.harness.nightly.memory import give_back, share_one_arena

ARENAS = """
import ctypes, threading
from rocketchaos.harness.nightly.memory import share_one_arena
share_one_arena()
barrier = threading.Barrier(4)
def work():
    kept = ctypes.create_string_buffer(10_000)
    barrier.wait()
threads = [threading.Thread(target=work) for _ in range(4)]
for one in threads: one.start()
for one in threads: one.join()
ctypes.CDLL(None).malloc_stats()
"""


def library(monkeypatch: pytest.MonkeyPatch, **functions: Callable[..., int]) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: SimpleNamespace(**functions))


def test_the_c_library_is_asked_to_give_all_back(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def trim(pad: int) -> int:
        asked.append(pad)
        return 1

    library(monkeypatch, malloc_trim=trim)
    give_back()
    assert asked == [0]


def test_what_only_refers_to_itself_ends_whatever_the_c_library_has(monkeypatch: pytest.MonkeyPatch) -> None:
    library(monkeypatch)
    share_one_arena()
    history = type("History", (), {})()
    history.own = history
    alive = weakref.ref(history)
    del history
    give_back()
    assert alive() is None


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="only glibc has arenas")
def test_threads_take_memory_from_one_arena() -> None:
    counted = subprocess.run(
        [sys.executable, "-c", ARENAS], capture_output=True, text=True, check=True
    ).stderr
    assert [counted.count("Arena"), "Arena 0" in counted] == [1, True]
