"""Giving memory back."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from harness.nightly.memory import give_back


def library(monkeypatch: pytest.MonkeyPatch, **functions: Callable[[int], int]) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: SimpleNamespace(**functions))


def test_the_c_library_is_asked_to_give_all_back(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def trim(pad: int) -> int:
        asked.append(pad)
        return 1

    library(monkeypatch, malloc_trim=trim)
    give_back()
    assert asked == [0]


def test_another_c_library_has_nothing_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    library(monkeypatch)
    give_back()


def test_what_only_refers_to_itself_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    library(monkeypatch)
    history = type("History", (), {})()
    history.own = history
    alive = weakref.ref(history)
    del history
    give_back()
    assert alive() is None
