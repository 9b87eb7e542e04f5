"""`--watch` takes one number and one unit; what it refuses is said with the way out."""

from __future__ import annotations

import pytest

from rocketchaos.harness.cli.main import main


@pytest.mark.parametrize("duration", ["5m10s", "5", "m"])
def test_a_duration_that_is_refused_says_how_to_write_it(
    duration: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", "--namesrv", "127.0.0.1:1", "--watch", duration]) == 2
    shown = capsys.readouterr().err
    assert "--watch: a duration needs a number and a unit" in shown
    assert "`5m10s` is `310s`" in shown
