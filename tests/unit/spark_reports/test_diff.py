"""What is new: which runs a side has, which cells are held against each other, and what is worse."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
import pytest

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.diff.compare import News, compare
from rocketchaos.spark_reports.diff.lines import headline, lines
from rocketchaos.spark_reports.diff.pairs import Pair, pairs
from rocketchaos.spark_reports.diff.read import CauseSeen, Facts, Share, Took
from rocketchaos.spark_reports.diff.sides import NEWEST, between, since
from rocketchaos.spark_reports.diff.words import kind

NOW = datetime(2026, 3, 8, 12, tzinfo=UTC)


def cell(scenario: str = "tags", client: str = "java", rocketmq: str = "5.5.0") -> Cell:
    return Cell(scenario, client, rocketmq, "embedded", "compressed")


def share(hits: int, of: int) -> Share:
    return Share(hits, of, "runs/hit" if hits else None, "runs/miss" if hits < of else None, of)


def news(
    before: Mapping[Cell, Share],
    after: Mapping[Cell, Share],
    claims: Mapping[str, tuple[Mapping[Cell, Share], Mapping[Cell, Share]]] | None = None,
    causes: list[CauseSeen] | None = None,
    timing: Mapping[str, tuple[Mapping[Cell, Took], Mapping[Cell, Took]]] | None = None,
) -> News:
    return compare(Facts((before, after), claims or {}, causes or [], timing or {}))


def of_one(before: Share, after: Share) -> News:
    return news({cell(): before}, {cell(): after})


def cause(
    before: Share, after: Share, signature: str = "port <n> is in use", kind: str = "check"
) -> CauseSeen:
    return CauseSeen(
        signature, "product", kind, before, after, "tags", 1, NOW, NOW, signature, "runs/cause", kind == "log"
    )


@pytest.mark.parametrize(
    ("moment", "begin"),
    [("7d", "2026-03-01 12:00:00"), ("12h", "2026-03-08 00:00:00"), ("2026-03-02", "2026-03-02 00:00:00"),
     ("2026-03-02T01:00+02:00", "2026-03-01 23:00:00")],
)  # fmt: skip
def test_since_a_moment(moment: str, begin: str) -> None:
    sql = since(moment, NOW).sql
    assert f"started < TIMESTAMP '{begin}.000000Z' THEN 'before'" in sql
    assert f"started >= TIMESTAMP '{begin}.000000Z'" in sql


def test_a_moment_is_named_to_its_second() -> None:
    assert since("2026-03-02").after == "the runs since 2026-03-02 00:00"
    assert since("2026-03-02T01:00:30").before == "the runs before 2026-03-02 01:00:30"


def test_a_year_has_four_digits_in_sql() -> None:
    assert "TIMESTAMP '0001-01-01 00:00:00.000000Z'" in since("0001-01-01").sql


def test_since_last_is_the_newest_ingest() -> None:
    assert since("LAST") is NEWEST


def test_a_night_is_a_day_or_goes_from_one_to_another() -> None:
    sql = between("2026-03-01", "2026-03-02T20:00/2026-03-03T08:00").sql
    for at in ("2026-03-01 00:00", "2026-03-02 00:00", "2026-03-02 20:00", "2026-03-03 08:00"):
        assert f"TIMESTAMP '{at}:00.000000Z'" in sql


@pytest.mark.parametrize("moment", ["", "yesterday", "7", "7w", "LATEST", "2026-02-30", "last"])
def test_what_is_no_moment_is_one_message(moment: str) -> None:
    with pytest.raises(UsageProblem, match="no time"):
        since(moment)


@pytest.mark.parametrize(
    ("nights", "found"),
    [
        (("2026-03-01", "2026-03-01"), "in common"),
        (("2026-03-01", "7d"), "no night: 7d"),
        (("2026-03-01", "2026-03-03T02:00/2026-03-02T02:00"), "ends before it begins"),
        (("2026-03-01", "2026-03-02T02:00/"), "no time"),
        (("2026-03-01", "9999-12-31"), "no time"),
    ],
)
def test_what_is_no_night_is_one_message(nights: tuple[str, str], found: str) -> None:
    with pytest.raises(UsageProblem, match=found):
        between(*nights)


def test_a_cell_goes_with_itself() -> None:
    assert pairs([cell()], [cell()]) == [Pair(cell(), cell())]
    assert Pair(cell(), cell()).change == ""


def test_one_changed_version_makes_a_pair() -> None:
    (pair,) = pairs([cell()], [cell(rocketmq="4.9.4")])
    assert pair == (cell(), cell(rocketmq="4.9.4"))
    assert pair.change == "rocketmq 5.5.0 → 4.9.4"


def test_of_a_matrix_only_the_version_that_was_changed_is_held_against_another() -> None:
    old, kept, new = cell(rocketmq="5.3.3"), cell(rocketmq="5.5.0"), cell(rocketmq="5.5.1")
    assert set(pairs([old, kept], [kept, new])) == {Pair(kept, kept), Pair(old, new)}


def test_a_client_that_was_changed_beside_the_brokers_is_the_same_kind() -> None:
    (pair,) = pairs([cell()], [cell(client="java 5.5.0", rocketmq="4.9.4")])
    assert pair.change == "client java → java 5.5.0, rocketmq 5.5.0 → 4.9.4"


def test_other_kinds_and_several_versions_make_no_pair() -> None:
    assert pairs([cell()], [cell(client="python 2.0.0")]) == [
        Pair(cell(), None),
        Pair(None, cell(client="python 2.0.0")),
    ]
    several = [cell(rocketmq="4.9.4"), cell(rocketmq="4.9.7")]
    assert all(None in pair for pair in pairs([cell()], several))


@pytest.mark.parametrize(
    ("before", "after", "word", "verdict"),
    [
        (share(4, 4), share(0, 4), "became failing", "worse"),
        (share(3, 3), share(0, 3), "became failing", "perhaps worse"),
        (share(30, 30), share(29, 30), "became flaky", "perhaps worse"),
        (share(30, 30), share(15, 30), "became flaky", "worse"),
        (share(90, 100), share(50, 100), "fails more often", "worse"),
        (share(50, 100), share(90, 100), "fails less often", "not worse"),
        (share(5, 10), share(0, 3), "became failing", "perhaps worse"),
        (share(0, 10), share(10, 10), "became sound", "not worse"),
        (share(0, 10), share(5, 10), "no longer always fails", "not worse"),
    ],
)
def test_what_a_cell_became(before: Share, after: Share, word: str, verdict: str) -> None:
    found = of_one(before, after)
    (change,) = found.cells
    assert (kind(change), found.verdict) == (word, verdict)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (share(30, 30), share(3, 3)),
        (share(27, 30), share(26, 30)),
        (share(10, 11), share(3, 3)),
        (share(0, 3), share(0, 9)),
    ],
)
def test_what_is_as_it_was_is_no_news(before: Share, after: Share) -> None:
    found = of_one(before, after)
    assert (found.cells, found.verdict) == ([], "not worse")


def test_runs_of_which_none_could_be_judged_are_no_comparison() -> None:
    found = of_one(share(5, 5), Share(0, 0, runs=2))
    assert (found.cells, found.verdict) == ([], "nothing compared")
    assert headline(found, NEWEST).startswith(
        "Nothing can be compared: no cell has judged runs on both sides"
    )
    assert news({}, {cell(): share(3, 3)}).verdict == "nothing compared"


def test_a_change_of_many_cells_is_corrected_for_them() -> None:
    mixed = {cell(f"s{n}"): share(2, 4) for n in range(40)}
    found = news({**mixed, cell(): share(4, 4)}, {**mixed, cell(): share(0, 4)})
    assert [change.sure for change in found.cells] == [False]


def test_what_is_worse_comes_first_and_the_surest_of_it() -> None:
    before = {cell(name): share(9, 9) for name in ("a", "b", "c")} | {cell("d"): share(0, 9)}
    after = {cell("a"): share(8, 9), cell("b"): share(0, 9), cell("c"): share(0, 1), cell("d"): share(9, 9)}
    assert [change.pair.cell.scenario for change in news(before, after).cells] == ["b", "c", "a", "d"]


def test_a_claim_that_is_no_longer_so_is_worse() -> None:
    sound = {cell(): share(6, 6)}
    found = news(sound, sound, claims={"E14": ({cell(): share(6, 6)}, {cell(): share(0, 6)})})
    assert (found.cells, found.verdict) == ([], "worse")
    assert [(change.claim, kind(change)) for change in found.claims] == [("E14", "no longer so")]
    assert "claim E14 in tags java 5.5.0 no longer so: 6 of 6 → 0 of 6 so" in headline(found, NEWEST)


def test_causes_come_and_go_and_change_no_verdict() -> None:
    sound = {cell(): share(6, 6)}
    found = news(
        sound, sound,
        causes=[cause(share(0, 9), share(9, 9), "log line", "log"), cause(share(0, 9), share(1, 9), "check x"),
                cause(share(3, 9), share(0, 9), "old"), cause(share(3, 9), share(4, 9), "both"),
                cause(share(0, 0), share(2, 2), "elsewhere")],
    )  # fmt: skip
    assert [(item.cause.signature, item.new, item.sure) for item in found.causes] == [
        ("elsewhere", True, False), ("check x", True, False), ("log line", True, True), ("old", False, False)
    ]  # fmt: skip
    assert found.causes[0].difference is None
    assert found.verdict == "not worse"


def test_a_line_of_a_log_is_compared_among_bad_runs_as_good_runs_may_have_it_too() -> None:
    sound = {cell(): share(6, 6)}
    line = cause(share(0, 3), share(6, 6), "a line", "log")
    (text,) = lines(news(sound, sound, causes=[line]))
    assert text.startswith(
        "New cause (product) in 6 of 6 bad runs of tags, none of 3 bad runs before, p=0.01"
    )
    # Nothing is known of good runs.
    assert lines(news(sound, sound, causes=[cause(Share(0, 0), share(6, 6), "a line", "log")])) == []
    (text,) = lines(news(sound, sound, causes=[cause(share(0, 6), share(6, 6), "a check", "check")]))
    assert text.startswith("New cause (product) in 6 of 6 runs of tags, none of 6 runs before, p=0.00")


def test_times_that_moved_name_the_slowest_run() -> None:
    sound = {cell(): share(6, 6)}
    fast = Took({100.0: 4, 110.0: 4}, {100.0: "runs/a", 110.0: "runs/b"})
    slow = Took({500.0: 4, 900.0: 4}, {500.0: "runs/c", 900.0: "runs/d"})
    found = news(sound, sound, timing={"delivery": ({cell(): fast}, {cell(): slow})})
    (moved,) = found.timing
    assert (moved.slower, moved.source, found.verdict) == (True, "runs/d", "not worse")
    assert (moved.before.median_ms, moved.after.median_ms, moved.delta.point) == (100, 500, 1)
    assert not news(sound, sound, timing={"delivery": ({cell(): fast}, {cell(): fast})}).timing


def test_a_time_that_moved_names_the_version_that_moved_with_it() -> None:
    old, new = {cell(): share(6, 6)}, {cell(rocketmq="5.5.1"): share(6, 6)}
    fast, slow = Took({100.0: 6}, {100.0: "runs/a"}), Took({500.0: 6}, {500.0: "runs/b"})
    timing = {"delivery": ({cell(): fast}, {cell(rocketmq="5.5.1"): slow})}
    (text,) = lines(news(old, new, timing=timing))
    assert "the medians of 6 and 6 runs, with rocketmq 5.5.0 → 5.5.1, delta 1.00" in text


def test_the_line_says_how_sure_it_is_and_where_to_look() -> None:
    few, many = of_one(share(3, 3), share(0, 3)), of_one(share(30, 30), share(0, 30))
    assert headline(few, NEWEST).startswith(
        "1 cell worse, none of them for sure, in the newest ingest (3 runs) against all runs before it (3); "
        "first: tags java 5.5.0 became failing: 3 of 3 → 0 of 3 as expected; difference -1.00 ["
    )
    assert "too few runs to be sure (4 on each side, all alike, are enough)" in headline(few, NEWEST)
    assert "1 cell worse, 1 of them for sure" in headline(many, NEWEST)
    assert headline(many, NEWEST).endswith("see ⟦runs/miss⟧")
    assert headline(of_one(share(3, 3), share(3, 3)), NEWEST).startswith("Nothing is worse")
    assert headline(news({}, {cell(): share(3, 3)}), NEWEST).startswith(
        "Nothing can be compared, because one side has no runs (all runs before it)"
    )


def test_cells_of_one_side_are_counted_and_a_failing_one_is_named() -> None:
    found = news(
        {cell("old"): share(3, 3), cell(): share(3, 3)},
        {cell("new"): share(1, 3), cell(): share(3, 3)},
    )
    assert lines(found) == [
        "1 cell without runs before, 1 of them not always as expected; first: new java 5.5.0 1 of 3, "
        "see ⟦runs/miss⟧",
        "1 cell had runs before, and has none now; first: old java 5.5.0",
    ]
    gone = news({cell("b"): share(3, 3), cell("a"): share(0, 3), cell(): share(3, 3)}, {cell(): share(3, 3)})
    assert lines(gone) == ["2 cells had runs before, and have none now; first: a java 5.5.0"]


@pytest.mark.nightly
def test_null_nights_are_seldom_worse_and_a_planted_loss_nearly_always_is() -> None:
    rng = np.random.default_rng(11)
    rates = {cell(f"s{n:02}"): (1.0, 0.9, 0.5)[n % 3] for n in range(30)}

    def night(runs: int, lost: bool = False) -> dict[Cell, Share]:
        return {
            key: share(int(rng.binomial(runs, 0.3 if lost and key.scenario == "s00" else rate)), runs)
            for key, rate in rates.items()
        }

    rounds = 400
    false_alarms = sum(news(night(40), night(20)).verdict == "worse" for _ in range(rounds))
    found = sum(news(night(40), night(20, lost=True)).cells[0].pair.cell.scenario == "s00" for _ in range(50))
    assert false_alarms / rounds <= 0.05 + 2 * (0.05 * 0.95 / rounds) ** 0.5
    assert found >= 49
