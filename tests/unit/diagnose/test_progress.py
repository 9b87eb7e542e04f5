"""Offsets and listeners: what a pause, a member's own filter, and members by POP look like."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.diagnose import checks, read
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.pseudonyms import Pseudonyms
from tests.unit.diagnose.broker_edits import ends, offset
from tests.unit.diagnose.member_edits import ALIKE, client_property, languages, listener, tries, wants
from tests.unit.diagnose.reports import (
    Change,
    Edit,
    answers,
    by_look,
    codes,
    diagnosed,
    each,
    unanswered,
    unknown,
)


@pytest.mark.parametrize(
    ("every_ms", "cached", "level"),
    [
        (2_000, 0, Level.WARNING),
        (0, 0, Level.ERROR),
        (2_000, 2, Level.ERROR),
    ],
    ids=["paused", "pulls-no-more", "holds-messages"],
)
def test_a_consumer_that_its_application_pauses_is_no_error(every_ms: int, cached: int, level: Level) -> None:
    stands = offset(lambda _look: 1)
    (finding,) = diagnosed("mismatch-4.9.4.json", ALIKE, *stands, tries(every_ms, cached), looks=17).findings
    assert (finding.check.code, finding.level) == ("RC0501", level)


@pytest.mark.parametrize(
    ("after_ms", "level"),
    [(30_001, Level.WARNING), (0, Level.ERROR), (33_000, Level.ERROR)],
    ids=["suspended", "pulls-no-more", "fails-after-a-time-out"],
)
def test_a_client_of_go_that_is_suspended_tries_every_half_minute(after_ms: int, level: Level) -> None:
    def change(document: Any, look: int) -> None:
        for held in document["mqTable"].values():
            held.update(cachedMsgCount=0)
            held["lastPullTimestamp"] += after_ms if look > 5 else 0

    stands = offset(lambda _look: 1)
    changes: Any = (ALIKE, languages("GO", "GO"), *stands, by_look(307, change))
    found = diagnosed("mismatch-4.9.4.json", *changes, looks=17).findings
    assert [item.level for item in found if item.check.code == "RC0501"] == [level]


def test_a_queue_that_a_client_of_go_has_dropped_is_not_its_own() -> None:
    def change(document: Any) -> None:
        for held in document["mqTable"].values():
            del held["droped"]
            held["dropped"] = True

    report = diagnosed("mismatch-4.9.4.json", ALIKE, (307, change), looks=30)
    assert "RC0301" in codes(report)


@pytest.mark.parametrize(
    ("consume_from", "came_s", "reports_queues", "found"),
    [
        ("CONSUME_FROM_FIRST_OFFSET", -60, True, True),
        ("CONSUME_FROM_LAST_OFFSET", -60, True, False),
        ("CONSUME_FROM_LAST_OFFSET", 5, True, False),
        ("CONSUME_FROM_LAST_OFFSET", 60, True, True),
        ("CONSUME_FROM_LAST_OFFSET", -60, False, False),
        ("CONSUME_FROM_LAST_OFFSET", 5, False, True),
    ],
)
def test_a_queue_without_any_offset_is_not_ruled_out(
    consume_from: str, came_s: int, reports_queues: bool, found: bool
) -> None:
    """Members that report no queues, as lite pull consumers up to 5.1.0, may hang as well."""

    def without_offsets(document: Any, _look: int) -> None:
        document["offsetTable"] = {key: {} for key in document["offsetTable"]}

    def began(document: Any, _look: int) -> None:
        document["consumeFromWhere"] = consume_from

    def stored(document: Any, look: int) -> None:
        document["properties"]["PROP_CONSUMER_START_TIMESTAMP"] = "1000000"
        for held in document["mqTable"].values():
            held.update(commitOffset=-1, cachedMsgCount=0)
        if not reports_queues:
            document["mqTable"] = {}

    def came(document: Any, _look: int) -> None:
        for item in document.get("offsetTable", {}).values():
            item["lastUpdateTimestamp"] = 1_000_000 + 1_000 * came_s

    changes: Any = [
        by_look(43, without_offsets),
        by_look(203, began),
        by_look(307, stored),
        by_look(202, came),
    ]
    report = diagnosed("mismatch-4.9.4.json", ALIKE, languages("GO", "GO"), *changes, looks=17)
    assert ("RC0501" in unknown(report)) is found
    assert ("RC0501" in {item.check.code for item in report.ruled_out}) is not found


def _asked_at_any_time(ago_ms: Callable[[int], int]) -> Edit:
    """Looks that are 2.3 s apart; members whose last try to pull was so long before the question."""

    def change(item: Exchange) -> Exchange:
        at_ms = item.at_ms + 300 * item.look
        if item.code != 307:
            return replace(item, at_ms=at_ms)
        document = item.document
        for held in document["mqTable"].values():
            held.update(cachedMsgCount=0, lastPullTimestamp=at_ms - ago_ms(item.look))
        return replace(item, at_ms=at_ms, body=json.dumps(document))

    return each(change)


@pytest.mark.parametrize(
    ("ago_ms", "level"),
    [
        # Its tries are whole seconds apart: of 2.3 s two are between two looks, or three.
        (lambda look: 300 * look % 1_000, Level.WARNING),
        (lambda look: 5_000 + 300 * look % 1_000, Level.WARNING),
        (lambda look: 20 * (look % 2), Level.ERROR),
        (lambda look: 5_000 + 20 * (look % 2), Level.ERROR),
        (lambda look: 400 if look in (4, 9) else 20 * (look % 2), Level.ERROR),
        (lambda look: -400 if look in (4, 9) else 20 * (look % 2), Level.ERROR),
    ],
    ids=[
        "paused",
        "paused-with-another-clock",
        "refused",
        "refused-with-another-clock",
        "refused-on-a-busy-host",
        "refused-and-answered-late",
    ],
)
def test_a_broker_that_refuses_all_pulls_is_no_pause(ago_ms: Callable[[int], int], level: Level) -> None:
    stands = offset(lambda _look: 1)
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *stands, _asked_at_any_time(ago_ms), looks=17)
    (finding,) = report.findings
    assert (finding.check.code, finding.level) == ("RC0501", level)
    assert ("pulls many times a second, and gets nothing" in finding.sentence) is (level is Level.ERROR)
    # An exception in a client that tries again soon looks the same (seen: pullTimeDelayMillsWhenException 100).
    assert "the broker refuses" not in finding.sentence
    assert ("its log has the reason" in finding.sentence) is (level is Level.ERROR)


@pytest.mark.parametrize(
    ("kind", "found"), [("CONSUME_ACTIVELY", {"RC0101"}), ("CONSUME_PASSIVELY", {"RC0101", "RC0501"})]
)
def test_a_lag_that_an_owners_own_filter_drops_is_no_stop(kind: str, found: set[str]) -> None:
    """The last message of queue 0 has tagB, which the broker holds; the queue's owner wants tagA."""

    def consume_type(document: Any, _look: int) -> None:
        document["properties"]["PROP_CONSUME_TYPE"] = kind

    stands = offset(lambda _look: 3, lambda _look: 4)
    report = diagnosed(
        "mismatch-4.9.4.json", wants("tagA", "tagB"), *stands, by_look(307, consume_type), looks=17
    )
    assert codes(report) == found


def _pops(waiting: int, rate: float) -> Change:
    """Members that pop, hold so many messages, and finish so many a second."""

    def change(document: Any, _look: int) -> None:
        document["mqTable"] = {}
        queue = json.dumps({"brokerName": "broker-1", "queueId": -1, "topic": "topic-1"})
        document["mqPopTable"] = {queue: {"droped": False, "waitAckCount": waiting}}
        document["statusTable"] = {"topic-1": {"consumeOKTPS": rate, "consumeFailedTPS": 0.0}}

    return by_look(307, change)


@pytest.mark.parametrize(
    ("waiting", "rate", "looks", "found"),
    [(40, 0.0, 17, True), (40, 0.1, 17, False), (0, 0.0, 17, False), (40, 0.0, 3, False)],
)
def test_a_listener_that_finishes_no_popped_message_is_found(
    waiting: int, rate: float, looks: int, found: bool
) -> None:
    report = diagnosed("mismatch-5.5.0.json", ALIKE, _pops(waiting, rate), looks=looks)
    assert codes(report) == ({"RC0601"} if found else set())


def test_how_long_popped_messages_stay_away_is_by_the_members_own_setting() -> None:
    def slow(document: Any, _look: int) -> None:
        document["properties"]["popInvisibleTime"] = "300000"

    changes: Any = (ALIKE, _pops(40, 0.0))
    own = diagnosed("mismatch-5.5.0.json", *changes, by_look(307, slow), looks=17).findings[0]
    assert own.sentence.endswith("its listener hangs, or takes longer than popInvisibleTime (300 s)")
    assert "popInvisibleTime has passed (300 s)" in own.effect


def _read_keys() -> Iterator[tuple[str, str]]:
    """What checks read of settings, runtime and properties: `member.properties.get("…")`."""
    folder = Path(str(checks.__file__)).parent.parent
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "get"
                and isinstance(node.func.value, ast.Attribute)
                and isinstance(node.args[0], ast.Constant)
            ):
                yield node.func.value.attr, str(node.args[0].value)


def test_what_checks_read_of_an_answer_is_kept_of_it() -> None:
    kept = {
        "properties": set(read.MEMBER_PROPERTIES),
        "config": set(read.BROKER_SETTINGS),
        "runtime": set(read.RUNTIME_KEYS),
    }
    wanted = {(kind, key) for kind, key in _read_keys() if kind in kept}
    assert {"properties", "config", "runtime"} == {kind for kind, _ in wanted}
    assert not {(kind, key) for kind, key in wanted if key not in kept[kind]}


def test_a_bundle_hides_the_name_servers_of_a_brokers_settings() -> None:
    names = Pseudonyms()
    for _ in range(2):
        hidden = names._setting("namesrvAddr", "10.0.0.5:9876;names.example:9876")
        names.names = {"host": {"10.0.0.5": "host-1", "names.example": "host-2"}}
    assert hidden == "host-1:9876;host-2:9876"


@pytest.mark.parametrize(
    ("at", "found"),
    [([9, 9, 2, 4], True), ([9, 9, 2, 9], True), ([2, 4, 9, 9], False)],
    ids=["is-behind", "has-caught-up", "only-moves-on"],
)
def test_an_offset_that_is_set_back_is_reported_of_a_group_that_had_no_lag(
    at: list[int], found: bool
) -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *offset(at.__getitem__), looks=4)
    assert codes(report) == ({"RC0503"} if found else set())
    if found:
        assert "; it went back by 7 messages" in report.findings[0].sentence
        says = [item.says for item in report.findings[0].evidence]
        assert [text.partition(": ")[2] for text in says[:2]] == ["0: 9", "0: 2"]


def test_members_that_report_no_queues_own_what_their_strategy_gives_them() -> None:
    """DefaultLitePullConsumer of 4.9.x: each filters its pulls by its own tag, so half of the messages is lost."""

    def lite(document: Any) -> None:
        document["properties"]["PROP_CONSUME_TYPE"] = "CONSUME_ACTIVELY"
        document["mqTable"].clear()

    report = diagnosed(
        "mismatch-4.9.4.json", wants("tagA", "tagB"), (307, lite), *offset(lambda _look: 9), looks=17
    )
    (finding,) = report.findings
    assert finding.check.code == "RC0101"
    assert "(50 %) reach no listener" in finding.effect
    assert {item.fate for item in finding.messages} == {"filtered-by-broker"}


@pytest.mark.parametrize(("at", "wait"), [(9, False), (5, True)])
def test_who_owns_the_queues_of_an_application_that_pulls_matters_if_messages_wait(
    at: int, wait: bool
) -> None:
    """DefaultMQPullConsumer reports no queues: the application chooses them."""

    def pulls(document: Any) -> None:
        document["properties"]["PROP_CONSUME_TYPE"] = "CONSUME_ACTIVELY"
        document["mqTable"].clear()

    report = diagnosed("mismatch-4.9.4.json", ALIKE, (307, pulls), *offset(lambda _look: at))
    assert ("RC0301" in unknown(report)) is wait
    assert "RC0301" not in {item.check.code for item in report.ruled_out}


@pytest.mark.parametrize(("threads", "found"), [("1", set()), ("20", {"RC0501"})])
def test_a_queue_whose_messages_wait_for_the_one_slow_thread_has_not_stopped(
    threads: str, found: set[str]
) -> None:
    def slow(document: Any, look: int) -> None:
        document["properties"]["PROP_THREADPOOL_CORE_SIZE"] = threads
        for held in document["mqTable"].values():
            held.update(cachedMsgCount=3, cachedMsgMinOffset=1, cachedMsgMaxOffset=8)
            held["lastPullTimestamp"] += 2_000 * look
            held["lastConsumeTimestamp"] = held["lastPullTimestamp"] - 27_000

    stands = offset(lambda _look: 1)
    assert codes(diagnosed("mismatch-4.9.4.json", ALIKE, *stands, by_look(307, slow), looks=22)) == found


@pytest.mark.parametrize(("groups", "level"), [(None, Level.WARNING), (("group-1",), Level.ERROR)])
def test_a_group_that_nobody_uses_any_more_is_no_error(groups: tuple[str, ...] | None, level: Level) -> None:
    deleted = ALIKE, unanswered(203, 206), *offset(lambda _look: 1), ends(minOffset=3)
    report = diagnosed("mismatch-4.9.4.json", *deleted, topics=("topic-1",), groups=groups)
    (finding,) = [item for item in report.findings if item.check.code == "RC0505"]
    assert finding.level is level
    assert "2 messages of broker-1 0, between" in finding.sentence


def test_deleted_messages_are_not_said_to_wait() -> None:
    paused = ALIKE, *offset(lambda _look: 1), ends(minOffset=3), tries(2_000, 0)
    found = {item.check.code: item for item in diagnosed("mismatch-4.9.4.json", *paused, looks=17).findings}
    assert "2 messages of broker-1 0, between" in found["RC0505"].sentence
    assert ", 6 messages behind" in found["RC0501"].sentence
    paused = ALIKE, *offset(lambda _look: 1), ends(minOffset=9), tries(2_000, 0)
    assert codes(diagnosed("mismatch-4.9.4.json", *paused, looks=17)) == {"RC0505"}


def test_an_offset_of_minus_one_is_none() -> None:
    """Go clients store it for their retry topic at their start."""
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *offset(lambda _look: -1), looks=3)
    assert codes(report) == set()


@pytest.mark.parametrize(
    ("offsets", "end_of_queue", "found", "words"),
    [
        # The topic is made again: 2 new messages lie below the offset, and the next pull passes them.
        ((9, 9, 2), (9, 2, 2), {"RC0506"}, "past 2 messages that the group hasn't consumed"),
        # The first look finds it so, and can't know how far the group was.
        ((9, 9, 2), (2, 2, 2), {"RC0506"}, "past up to 2 messages that the group hasn't consumed"),
        # The same messages, consumed before somebody set the offset beyond them: none is passed.
        ((2, 9, 2), (2, 2, 2), set(), ""),
        # They come: somebody has set it back.
        ((9, 9, 0, 2), (9, 2, 2, 2), {"RC0503"}, "went back"),
        ((9, 9, 2, 5), (9, 2, 2, 5), {"RC0506"}, "past 2 messages"),
    ],
)
def test_messages_that_an_offset_beyond_the_end_has_passed_stay_in_the_report(
    offsets: tuple[int, ...], end_of_queue: tuple[int, ...], found: set[str], words: str
) -> None:
    edits = offset(lambda look: offsets[look], lambda look: end_of_queue[look])
    report = diagnosed("mismatch-5.5.0.json", ALIKE, *edits, looks=len(offsets))
    assert codes(report) == found
    assert all(words in finding.sentence for finding in report.findings)


def test_a_queue_that_began_again_unseen_is_undetermined_and_no_offset_was_set_back() -> None:
    edits = offset(lambda look: (9, 2)[look], lambda look: (9, 2)[look])
    report = diagnosed("mismatch-5.5.0.json", ALIKE, *edits, looks=2)
    assert (codes(report), unknown(report)) == (set(), {"RC0506"})
    (reason,) = [item.reason for item in report.undetermined]
    assert "the queue began again between two looks" in reason
    # Its group has stored nothing below: all of it comes.
    edits = offset(lambda look: (9, 0)[look], lambda look: (9, 2)[look])
    assert not codes(diagnosed("mismatch-5.5.0.json", ALIKE, *edits, looks=2))


@pytest.mark.parametrize(("minutes", "level"), [(1, Level.WARNING), (20, Level.ERROR)])
def test_an_orderly_listener_that_hangs_has_no_timeout_and_nothing_comes_twice(
    minutes: int, level: Level
) -> None:
    changes = (client_property("PROP_CONSUMEORDERLY", "true"), listener(minutes))
    findings = diagnosed("mismatch-4.9.4.json", ALIKE, *changes).findings
    assert {(item.check.code, item.level) for item in findings} == {("RC0601", level)}
    assert all("one after the other" in item.effect for item in findings)


@pytest.mark.parametrize("stored", [True, False])
def test_a_group_that_never_popped_has_no_offset_and_is_not_said_to_move(stored: bool) -> None:
    report = diagnosed(
        "grpc-5.5.0.json", *(() if stored else (answers(43, lambda item: item["offsetTable"].clear()),))
    )
    open_ones = [item.reason for item in report.undetermined if item.check.code == "RC0501"]
    assert [reason.split(": ")[1] for reason in open_ones] == (
        [] if stored else ["messages are stored there, and no broker knows an offset of the group"]
    )
    assert ("RC0501" in {item.check.code for item in report.ruled_out}) is stored
