from __future__ import annotations

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode, message_and_hint


@pytest.mark.parametrize(
    ("codes", "gravest"),
    [
        ([], 0),
        ([0, 0], 0),
        ([0, 3], 3),
        ([3, 1], 1),
        ([1, 4, 3], 4),
        ([4, 2], 2),
        ([2, 70, 0], 70),
        ([0, 130], 130),
    ],
)
def test_the_gravest_code_counts(codes: list[int], gravest: int) -> None:
    assert ExitCode.gravest([ExitCode(code) for code in codes]) == gravest  # type: ignore[call-arg]


@pytest.mark.parametrize("hint", ["", "Its log is in the run folder, logs/."])
def test_what_a_program_printed_is_no_hint(hint: str) -> None:
    message = (
        "the program of x has ended: exit code 3; the end of x.log:\n    config missing\n      at line 4"
    )
    assert message_and_hint(str(EnvironmentNotReady(message, hint))) == (message, hint)
