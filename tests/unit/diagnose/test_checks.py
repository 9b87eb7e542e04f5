"""Each check finds what it is for, on recorded answers of real clusters in which one thing was changed."""

from __future__ import annotations

import pytest

from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.diagnosis import Report
from tests.unit.diagnose.planted import ALIKE, PLANTED, Planted
from tests.unit.diagnose.reports import codes, diagnosed, unknown

BOTH = pytest.mark.parametrize("recorded", ["mismatch-4.9.4.json", "mismatch-5.5.0.json"])
EACH = pytest.mark.parametrize("planted", [pytest.param(item, id=item.code) for item in PLANTED])

ONLY_UNDETERMINED = {"RC0208", "RC0210", "RC0803"}
"""Who doesn't tell is never known to be ill."""


def _report(recorded: str, planted: Planted, *, near: bool = False) -> Report:
    changes = planted.near if near else planted.changes
    scope = dict(planted.scope)
    return diagnosed(recorded, ALIKE, *changes, looks=planted.looks, **scope)


@BOTH
def test_nothing_is_found_where_nothing_is_wrong(recorded: str) -> None:
    report = diagnosed(recorded, ALIKE, looks=15)
    assert not codes(report)
    assert not report.undetermined


@EACH
@BOTH
def test_what_is_wrong_is_found(recorded: str, planted: Planted) -> None:
    report = _report(recorded, planted)
    shown = unknown(report) if planted.code in ONLY_UNDETERMINED else codes(report)
    assert planted.code in shown, [(item.check.code, item.reason) for item in report.undetermined]
    assert planted.code not in {item.check.code for item in report.ruled_out}
    assert codes(report) <= {planted.code}  # and nothing else is accused


@EACH
@BOTH
def test_what_is_nearly_so_is_not_found(recorded: str, planted: Planted) -> None:
    report = _report(recorded, planted, near=True)
    assert planted.code not in codes(report) | unknown(report)


@pytest.mark.parametrize("code", ["RC0301", "RC0302", "RC0603"])
def test_what_may_be_a_moment_of_a_change_is_not_told_as_certain(code: str) -> None:
    (planted,) = [item for item in PLANTED if item.code == code]
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *planted.changes, looks=3)
    assert code not in codes(report)
    assert code in unknown(report)


def test_every_check_is_planted_once() -> None:
    assert [item.code for item in PLANTED] == list(CHECKS)


def test_each_check_looks_at_the_cluster_or_at_groups() -> None:
    assert all((check.of_group is None) is not (check.of_cluster is None) for check in CHECKS.values())
