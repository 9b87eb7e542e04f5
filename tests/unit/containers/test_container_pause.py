"""A container that is too busy to be paused is paused a moment later; other refusals are passed on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from docker.errors import APIError

from rocketchaos.harness.containers.container_engine import until_frozen


def _answers(*refused: str) -> tuple[list[str], Callable[[], None]]:
    left = list(refused)

    def pause() -> None:
        if left:
            raise APIError(left.pop(0))

    return left, pause


def test_a_busy_container_is_paused_in_the_end() -> None:
    busy = "OCI runtime pause failed: unable to freeze: unknown"
    left, pause = _answers(busy, busy)
    until_frozen(pause)
    assert left == []


def test_another_refusal_is_not_tried_again() -> None:
    left, pause = _answers("no such container", "a second time")
    with pytest.raises(APIError, match="no such container"):
        until_frozen(pause)
    assert left == ["a second time"]
