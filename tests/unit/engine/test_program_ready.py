"""What must hold before a user's jar counts as started: lines of its log."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.engine.program_ready import wait_until_ready
from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.probes.context import ProbeContext


def context_of(pattern: str) -> ProbeContext:
    app = App.model_validate({"jar": "a.jar", "ready": {"log": pattern}, "ready_within": "100ms"})
    found: Any = SimpleNamespace(
        scenario=SimpleNamespace(consumers={"a": SimpleNamespace(app=app)}),
        consumers={"a": SimpleNamespace(printed=lambda: None)},
        check_alive=lambda: None,
    )
    return cast(ProbeContext, found)


@pytest.mark.parametrize(
    "pattern",
    [r"is up \[v2\.0\*\] \(ready\) \$$", r"^ledger", r"\bcafé\b"],
    ids=["signs", "begin", "umlauts"],
)
def test_a_line_is_found_by_a_regular_expression(tmp_path: Path, pattern: str) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"first\r\n" + "ledger of café is up [v2.0*] (ready) $\r\n".encode())
    wait_until_ready(context_of(pattern), "a", 0.1, log, 0)


def test_what_an_earlier_start_has_printed_does_not_count(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("ledger is up\n")
    begin = log.stat().st_size
    with pytest.raises(EnvironmentNotReady, match="no line is found by 'is up'"):
        wait_until_ready(context_of("is up"), "a", 0.1, log, begin)
    with log.open("a") as file:
        file.write("ledger is up\n")
    wait_until_ready(context_of("is up"), "a", 0.1, log, begin)
