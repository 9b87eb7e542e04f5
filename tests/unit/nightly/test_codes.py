"""Findings are known by their codes: no sentence decides, and files of before there were codes still hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.nightly import codes
from rocketchaos.harness.nightly.codes import CODES, Meaning
from rocketchaos.harness.nightly.findings import NightlyFinding, findings
from rocketchaos.harness.nightly.invariants import INVARIANTS
from rocketchaos.harness.nightly.invariants.disagreement import Disagreement
from rocketchaos.harness.nightly.invariants.wanted import _NEVER
from rocketchaos.harness.nightly.known import doubts, read_known
from rocketchaos.harness.nightly.known_before import CODE_OF, code_of, is_meant
from rocketchaos.harness.nightly.restate import name_of
from rocketchaos.harness.reporting.folder import load_report
from tests.unit.nightly.documents import large
from tests.unit.nightly.nights import summary
from tests.unit.nightly.recorded import GOLDEN
from tests.unit.nightly.stories import half_lost

OF_BEFORE = (
    "# as a night told them before there were codes\n"
    "wanted-but-not-delivered: filtered-by-client: the queue's owner drops what another member wants; "
    "the members differ in their tags\n"
    "several-owners: the members differ in their allocation\n"
)


def found_in_golden_runs() -> Iterator[NightlyFinding]:
    for run in sorted(GOLDEN.iterdir()):
        report = load_report(run)
        yield from findings(report.scenario, report.events, report.outcome)


@pytest.fixture
def reworded(monkeypatch: pytest.MonkeyPatch) -> None:
    """All words of the registry are others."""
    other = {code: replace(item, cause="quite: other; words", title="Else") for code, item in CODES.items()}
    for module in ("codes", "invariants.base", "invariants.backwards", "restate", "again", "known_before"):
        monkeypatch.setattr(f"rocketchaos.harness.nightly.{module}.CODES", other)


@pytest.mark.usefixtures("reworded")
def test_other_words_change_no_identity() -> None:
    (item,) = half_lost().found()
    assert item.breach.cause == "quite: other; words"
    assert item.code == "wanted-but-not-delivered-filtered-by-client-tags"
    assert name_of({**large(), "name": "nightly-7-1"}, item) == f"{item.code}-7-1"
    assert code_of(f"{item.code}: other words again") == item.code


@pytest.mark.usefixtures("reworded")
def test_a_file_of_before_there_were_codes_still_quarantines(tmp_path: Path) -> None:
    file = tmp_path / "known"
    file.write_text(OF_BEFORE)
    known = read_known(file)
    assert known == {"wanted-but-not-delivered-filtered-by-client-tags", "several-owners-allocation"}
    assert summary((half_lost(), None)).exit_code is ExitCode.NOT_AS_EXPECTED
    assert summary((half_lost(), None), known=known).exit_code is ExitCode.AS_EXPECTED


def test_codes_with_and_without_words_and_sentences_of_before_are_the_same(tmp_path: Path) -> None:
    file = tmp_path / "known"
    file.write_text(
        "lost-agree\nlost-agree: what it says\nlost: no filter can have taken it; the members agree\n"
    )
    assert read_known(file) == {"lost-agree"}
    file.write_text("of another version\nlost-agree  # seen since May\n")
    assert read_known(file) == {"of another version", "lost-agree"}


def test_a_code_that_no_finding_has_is_named_with_the_nearest() -> None:
    assert list(doubts({"lost-agree", "lost-agre", "of another version"})) == [
        "--known: no finding has the code `lost-agre`; did you mean `lost-agree`?",
        "--known: no finding has the code `of another version`",
    ]


def test_a_file_of_an_editor_that_marks_utf_8_counts_from_its_first_line(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_bytes(b"\xef\xbb\xbflost-agree\r\nstuck-nothing-consumed\r\n")
    assert read_known(file) == {"lost-agree", "stuck-nothing-consumed"}


def test_golden_runs_have_registered_codes_and_the_sentences_of_before() -> None:
    found = list(found_in_golden_runs())
    assert found
    for found_in_golden_run in found:
        assert CODES[found_in_golden_run.code].kind == found_in_golden_run.kind
        assert is_meant(found_in_golden_run.code, found_in_golden_run.kind)


def test_every_code_that_an_invariant_may_give_is_registered() -> None:
    given = {
        f"{kind}-{mind}"
        for kind, mind in product(("several-owners", "repeated-shared-queue"), get_args(Disagreement))
    }
    given |= {
        f"refused-on-and-on-not-{what}-{mind}"
        for what, mind in product(("exist", "latest"), get_args(Disagreement))
    }
    given |= {
        f"wanted-but-not-delivered-{item}-{mind}" for item, mind in product(_NEVER, get_args(Disagreement))
    }
    given |= {f"cross-delivery-{way}-{what}" for way, what in product(("retry", "queue"), ("topic", "tag"))}
    given |= {f"offset-backwards-{item}" for item in ("beyond-flush", "unmoved", "beyond-moves")}
    given |= {"lost-agree", "lost-disagree", "stuck-nothing-consumed", "repeated-unmoved"}
    assert given == set(CODES)


def test_codes_are_of_invariants_and_say_so_in_their_names() -> None:
    kinds = {invariant.kind for invariant in INVARIANTS}
    for code, meaning in CODES.items():
        assert re.fullmatch("[a-z0-9-]{1,60}", code)
        assert code.startswith(f"{meaning.kind}-")
        assert meaning.kind in kinds
    assert len({meaning.signature for meaning in CODES.values()}) == len(CODES)


def test_each_sentence_of_before_has_its_code() -> None:
    assert len(set(CODE_OF.values())) == len(CODE_OF) == 46
    assert set(CODE_OF.values()) <= set(CODES)
    assert isinstance(codes.CODES["lost-agree"], Meaning)


def test_a_part_of_a_code_or_of_words_of_today_or_of_before_means_it() -> None:
    assert is_meant("lost-agree", "lost-")
    assert is_meant("lost-agree", "no filter can have taken it")
    assert not is_meant("lost-agree", "several")
