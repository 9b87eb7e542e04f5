"""How a worker's program in a container has ended, by the exit code that the engine tells."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
from docker.errors import APIError

from rocketchaos.harness.workers import container_program
from rocketchaos.harness.workers.container_program import ContainerProgram


@pytest.mark.parametrize(
    ("code", "returncode", "text"),
    [
        (0, 0, "exit code 0"),
        (3, 3, "exit code 3"),
        (137, -9, "signal SIGKILL"),
        # A first process that does nothing about SIGTERM outlives it: this one has ended by itself.
        (143, 143, "exit code 143"),
    ],
)
def test_a_signal_is_distinguished_from_an_end_by_itself(code: int, returncode: int, text: str) -> None:
    program = ContainerProgram.__new__(ContainerProgram)
    program._id, program._ended, program._killed_here = "c", threading.Event(), True
    program._api = SimpleNamespace(
        wait=lambda *_, **__: {"StatusCode": code},
        inspect_container=lambda _: {"State": {"OOMKilled": False}},
    )
    program._see_end()
    assert (program.poll(), program.ending) == (returncode, text)


def test_an_engine_that_hears_of_the_end_first_is_asked_again_for_its_reason() -> None:
    program = ContainerProgram.__new__(ContainerProgram)
    program._id, program._ended, program._killed_here = "c", threading.Event(), False
    answers = iter([False, False, True])
    program._api = SimpleNamespace(
        wait=lambda *_, **__: {"StatusCode": 137},
        inspect_container=lambda _: {"State": {"OOMKilled": next(answers)}},
    )
    program._see_end()
    assert program.ending == "signal SIGKILL, out of memory"


def test_an_engine_that_never_hears_of_the_reason_is_quoted_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_program, "_OOM_LIMIT_S", 0.05)
    program = ContainerProgram.__new__(ContainerProgram)
    program._id, program._ended, program._killed_here = "c", threading.Event(), False
    program._api = SimpleNamespace(
        wait=lambda *_, **__: {"StatusCode": 137},
        inspect_container=lambda _: {"State": {"OOMKilled": False}},
    )
    program._see_end()
    assert program.ending == "signal SIGKILL, perhaps out of memory: the container engine gives no reason"


def test_an_image_has_a_stop_signal_of_its_own() -> None:
    program = ContainerProgram.__new__(ContainerProgram)
    program._id, program._ended, program._worker = "c", threading.Event(), "a"
    sent: list[str] = []
    program._api = SimpleNamespace(kill=lambda _id, name: sent.append(name))
    program.terminate()
    program.stop_signal = "SIGQUIT"
    program.terminate()
    assert sent == ["SIGTERM", "SIGQUIT"]


def test_a_container_that_is_too_busy_to_be_paused_is_paused_a_moment_later() -> None:
    program = ContainerProgram.__new__(ContainerProgram)
    program._id, program._ended, program._worker = "c", threading.Event(), "a"
    refused = [APIError("OCI runtime pause failed: unable to freeze: unknown")]
    state = {"Running": True, "Paused": False, "Status": "running"}

    def pause(_id: str) -> None:
        if refused:
            raise refused.pop()
        state["Paused"] = True

    program._api = SimpleNamespace(pause=pause, inspect_container=lambda _: {"State": state})
    program.pause()
    assert (refused, state["Paused"]) == ([], True)
