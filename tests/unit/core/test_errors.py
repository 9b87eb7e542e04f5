from __future__ import annotations

import pytest

from rocketchaos.harness.core.errors import ExitCode


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
    assert ExitCode.gravest([ExitCode(code) for code in codes]) == gravest
