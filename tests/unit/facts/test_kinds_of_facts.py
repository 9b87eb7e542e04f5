"""Each kind of fact, made to differ by a history or a document that differs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rocketchaos.harness.core.events.run import Settled
from rocketchaos.harness.facts.check_facts import check_facts
from rocketchaos.harness.facts.condition_facts import condition_facts
from rocketchaos.harness.facts.documents import ChecksDocument, Documents, OutcomeDocument, RunDocument
from rocketchaos.harness.facts.fault_facts import fault_facts
from rocketchaos.harness.facts.finding_facts import finding_facts
from rocketchaos.harness.facts.kinds import FindingFact
from rocketchaos.harness.facts.log_facts import MOST, LogFinding, found_in, log_findings
from rocketchaos.harness.facts.observed_facts import offset_facts, ownership_facts, subscription_facts
from rocketchaos.harness.facts.run_facts import client_label, run_fact
from rocketchaos.harness.facts.signature import signature
from rocketchaos.harness.facts.story import Story, line_of
from rocketchaos.harness.facts.stretches import settled_group
from rocketchaos.harness.reference.facts import facts_reference
from tests.unit.facts.histories import (
    Told,
    fault,
    holds,
    line,
    offsets,
    owns,
    received,
    sent,
    started,
    story_of,
)

TOKEN = "mwqsryxtki69qa"


def record(**fields: Any) -> RunDocument:
    return msgspec.convert({"schema_version": 1, "run": TOKEN, "scenario": "s", **fields}, RunDocument)


def documents(outcome: dict[str, Any] | None = None, *checks: dict[str, Any]) -> Documents:
    said = {"outcome": "reproduced", "expected": "reproduced", "as_expected": True, **(outcome or {})}
    return Documents(
        run=record(),
        outcome=msgspec.convert({"schema_version": 1, **said}, OutcomeDocument),
        checks=msgspec.convert({"schema_version": 1, "checks": checks}, ChecksDocument),
    )


@pytest.mark.parametrize("owner", ["@acme/payments", None])
def test_a_run_has_the_owner_of_its_record(owner: str | None) -> None:
    told = documents()
    told = Documents(run=record(owner=owner), outcome=told.outcome, checks=told.checks)
    assert run_fact(told, story_of(holds(100, "tagA")), 0).scenario_owner == owner


def test_a_subscription_is_a_fact_where_it_changes() -> None:
    story = story_of(
        holds(100, None), holds(200, "tagA"), holds(200, "tagA"), holds(300, "tagB"), holds(400, None)
    )
    given = [(fact.at_ms, fact.previous_expression, fact.expression) for fact in subscription_facts(story)]
    assert given == [(200, None, "tagA"), (300, "tagA", "tagB"), (400, "tagB", None)]


def test_ownership_is_a_fact_at_first_sight_and_where_it_changes() -> None:
    story = story_of(owns(100, "a", 1, 0), owns(200, "a", 0, 1), owns(300, "a", 0), owns(400, "b"))
    given = [(fact.consumer, fact.previous_queues, fact.queues) for fact in ownership_facts(story)]
    # Nobody has told that b has anything to do with a topic.
    assert given == [
        ("a", None, ("broker-a:0", "broker-a:1")),
        ("a", ("broker-a:0", "broker-a:1"), ("broker-a:0",)),
    ]


def test_every_look_at_an_offset_is_a_fact() -> None:
    story = story_of(offsets(100, None), offsets(200, 1, moment="end"), offsets(300, 1))
    given = [(fact.at_ms, fact.consumer_offset, fact.moment, fact.queue) for fact in offset_facts(story)]
    assert given == [
        (100, None, None, "broker-a:0"),
        (200, 1, "end", "broker-a:0"),
        (300, 1, None, "broker-a:0"),
    ]


def test_what_follows_an_injection_of_a_fault_is_of_it() -> None:
    story = story_of(
        fault(50, "kill", "fault-effective", "a", proof="of one that nobody injected"),
        fault(100, "kill", "fault-injected", "a"),
        fault(110, "kill", "fault-effective", "a", proof="exit code -9"),
        fault(200, "pause", "fault-injected", "a"),
        fault(300, "kill", "fault-injected", "a"),
        fault(400, "pause", "fault-healed", "a"),
    )
    given = [
        (fact.fault, fact.injected_ms, fact.effective_ms, fact.healed_ms, fact.proof)
        for fact in fault_facts(story)
    ]
    assert given == [
        ("kill", 100, 110, None, "exit code -9"),
        ("pause", 200, None, 400, None),
        ("kill", 300, None, None, None),
    ]


def test_conditions_are_of_the_record_and_of_the_history() -> None:
    story = story_of(
        *started(100, "a"), *started(130, "b"), *started(900, "c", group="h"), sent(200, "m1", 0),
        fault(1000, "kill", "fault-injected", "a"), *started(2000, "a"),
    )  # fmt: skip
    given = record(
        load={"start": {"average_1min": 1.5}, "busy_share": None},
        parallel={"beside": 3, "waited_s": 2.5},
        phases={"waited": 7.0, "tear down": 1.0},
        cluster={"shared": True},
    )
    assert {fact.name: fact.value for fact in condition_facts(given, story)} == {
        "waited_s": 2.5, "tear_down_s": 1.0, "load_start": 1.5, "beside": 3, "shared_cluster": 1,
        "start_gap_ms": 30, "fault_offset_ms": 100, "fault_since_send_ms": 800,
    }  # fmt: skip
    assert not list(condition_facts(record(), story_of()))


def test_checks_have_their_place() -> None:
    given = documents(None, {"id": "x", "holds": "no", "events": [3]}, {"name": "another"}).checks
    assert [(fact.position, fact.id, fact.name, fact.events) for fact in check_facts(given)] == [
        (0, "x", None, (3,)),
        (1, None, "another", ()),
    ]


def test_a_run_has_the_times_of_its_first_and_last_event() -> None:
    story = Story()
    for text in (line(1, (0, "harness", "run-started", {})), line(2, (5000.4, "harness", "run-ended", {}))):
        found, body = line_of(text)
        story.add(found.n, found.mono_ns, found.wall_ms + 70 * (found.n == 2), found.node, body)
    fact = run_fact(documents(), story, 8)
    assert (fact.started_wall_ms, fact.ended_wall_ms) == (1_700_000_000_000, 1_700_000_005_000)
    assert (fact.seconds, fact.clock_jump_ms) == (5.0, 69)
    assert (fact.event_count, fact.message_count) == (2, 8)
    ended = Documents(
        run=record(ended="2026-11-21T00:00:01.234+00:00", seconds=7.0),
        outcome=documents().outcome,
        checks=documents().checks,
    )
    assert run_fact(ended, story, 8).ended_wall_ms == 1_795_219_201_234
    assert run_fact(ended, story, 8).seconds == 7.0


def test_a_condition_is_known_by_its_id_and_in_older_folders_by_its_title() -> None:
    said: Sequence[dict[str, Any]] = [
        {"condition": "ownership of g"},
        {"condition": "subscription of g for orders"},
        {"condition": "offsets of g for orders within lag 0"},
        {"condition": "whatever it is called", "condition_id": "ownership", "subject": "g"},
        {"condition": "ownership of g", "condition_id": "offsets", "subject": "g"},
    ]
    found = [settled_group(Settled(took_ms=1.0, looks=1, seen="", **fact)) for fact in said]
    assert found == ["g", "g", None, "g", None]


# Witnesses -----------------------------------------------------------------------------------------------------


def test_what_was_sent_before_anybody_was_there_waits_from_the_first_start_on() -> None:
    story = story_of(
        sent(100, "early", 0), *started(5000, "a"), received(5030, "a", "early", 0), *started(6000, "b"),
        sent(7000, "late", 1), received(7020, "b", "late", 1), received(7090, "a", "late", 1, 1),
    )  # fmt: skip
    given = story.witnesses
    assert [given.delivery_ms(key, "g") for key in ("early", "late", "never")] == [30, 20, None]
    assert given.delivery_ms("late", "another") is None


def test_a_track_is_the_last_one_that_was_seen() -> None:
    def tracks(ms: float, kind: str, track: str) -> Told:
        return ms, "harness", kind, {"topic": "orders", "key": "m1", "tracks": {"g": track}}

    story = story_of(
        tracks(1, "tracks-observed", "NOT_CONSUME_YET"), tracks(2, "tracks-observed", "CONSUMED"),
        tracks(3, "dashboard-tracks-observed", "NEW_IN_SOME_VERSION"),
    )  # fmt: skip
    assert story.witnesses.broker_track("m1", "g") == "CONSUMED"
    assert story.witnesses.dashboard_track("m1", "g") == "other"
    assert story.witnesses.broker_track("m2", "g") is None


# Findings ------------------------------------------------------------------------------------------------------


def found(story: Story, given: Documents, logs: Iterable[LogFinding] = ()) -> list[FindingFact]:
    return list(finding_facts(given, story, logs))


def test_a_run_as_expected_has_no_findings_but_what_always_is_one() -> None:
    story = story_of(
        (1, "harness", "probe-failed", {"probe": "offsets", "error": "timeout"}),
        (2, "a", "worker-died", {"reason": "exit code 1"}),
    )
    logs = [LogFinding("broker-a", "ERROR x", "ERROR x")]
    assert [(fact.kind, fact.side, fact.text) for fact in found(story, documents(), logs)] == [
        ("event", "environment", "worker-died: exit code 1")
    ]
    wrong = found(story, documents({"as_expected": False, "outcome": "inconclusive"}), logs)
    assert [(fact.kind, fact.node) for fact in wrong] == [
        ("outcome", "harness"), ("event", "harness"), ("event", "a"), ("log", "broker-a"),
    ]  # fmt: skip


def test_alike_events_are_one_finding_with_the_first_of_them() -> None:
    refused: Told = (1, "a", "consumer-refused", {"error": "no"})
    (_, fact) = found(story_of(*[refused] * 30), documents({"outcome": "error", "trouble": "environment"}))
    assert (fact.side, fact.occurrences, fact.events) == ("product", 30, tuple(range(1, 21)))


@pytest.mark.parametrize("ids", [True, False])
def test_causes_are_alike_by_their_ids_and_where_there_are_none_by_their_words(*, ids: bool) -> None:
    def signatures(words: str, number: str) -> list[str]:
        check = {
            "section": "also", "id": 'delivered {"to":"b"}' if ids else None, "name": words, "holds": "no",
            "expected": words, "observed": f"{words} {number}",
        }  # fmt: skip
        trouble = {
            "trouble": "precondition",
            "message": words,
            **({"cause": "settle-ownership"} if ids else {}),
        }
        story = story_of((1, "harness", "trouble", trouble))
        given = documents({"as_expected": False, "reason": words, "trouble": "precondition"}, check)
        return [fact.signature for fact in found(story, given)]

    fact, numbered, other = signatures("a thing", "1"), signatures("a thing", "7"), signatures("another", "1")
    assert fact == numbered
    assert (fact == other) is ids
    assert fact[0] == other[0] == "outcome reproduced precondition expected reproduced"


@pytest.mark.parametrize(("section", "count"), [("anomaly", 1), ("healthy", 0), ("also", 1), ("tendency", 0)])
def test_a_check_is_a_finding_where_it_should_hold(section: str, count: int) -> None:
    given = documents(
        None, {"section": section, "id": "x", "holds": "unknown"}, {"section": section, "holds": "yes"}
    )
    assert [fact.kind for fact in found(story_of(), given)] == ["check"] * count


SAME = [
    (f"timeout of g-{TOKEN} at 127.0.0.1:32062, 2645(ms)", f"timeout of g-{TOKEN} at 10.0.0.7:1, 3(ms)"),
    ("2026-11-21 21:51:18.983 WARN PullThread_2 - no", "2025-01-02T03:04:05,006Z WARN PullThread_17 - no"),
    ("lost orders-1, orders-2, orders-3", "lost orders-7, orders-8"),
    ("id FD00000000000000000000000000000276CB4E0E at Foo@1b2c3d4e", "id AC10000200002A9F0000A7B1 at Foo@0a1b2c"),
    ("took 12.5 s\n  and   more", "took 7 s and more"),
]  # fmt: skip


def test_equal_causes_have_equal_signatures_and_others_not() -> None:
    pairs = [(signature(fact, TOKEN), signature(other, TOKEN)) for fact, other in SAME]
    assert all(fact == other for fact, other in pairs)
    assert len(set(pairs)) == len(SAME)
    assert pairs[0][0] == "timeout of g-<run> at <address>, <n>(ms)"


def test_the_first_telling_lines_of_a_log_are_shown_and_others_counted() -> None:
    other = "mwqxztiaupsjsm"
    texts = [
        "INFO all is well, no exception",
        "WARN something else",
        f"WARN the consumer's group info not exist, group: g-{TOKEN}",
        f"WARN the consumer's group info not exist, group: g-{other}",
        "ERROR in post-initialization",
        *(f"ERROR cause {'x' * number}" for number in range(MOST + 5)),
        "ERROR cause x",
    ]
    given = {fact.text: fact for fact in found_in([("a", text) for text in texts], TOKEN)}
    assert len(given) == MOST
    assert given["ERROR cause x"].occurrences == 2
    assert {texts[2], texts[4]} < set(given)
    assert not any(text.startswith("INFO") or other in text for text in given)


def test_a_message_is_alike_in_the_layouts_of_all_versions_and_of_all_threads() -> None:
    said = f"get Topic [%RETRY%g-{TOKEN}] RouteInfoFromNameServer is not exist value"
    lines = [
        f"2026-11-30 09:13:47,877 WARN RocketmqClient - {said}",
        f"2026-11-30 15:51:44.523 WARN  [3822] [MQClientFactoryScheduledThread] [o.a.r.c.i.M#?:?] - {said}",
        f"2026-11-30 15:51:44.530 WARN  [3822] [Thread-3] [o.a.r.c.i.MQClientAPIImpl#?:?] - {said}",
        f"2026-11-30 07:51:44.730 WARN ConsumerManageThread_1 - {said}",
    ]
    (fact,) = found_in([("a", line) for line in lines], TOKEN)
    assert (fact.text, fact.occurrences) == (lines[0], 4)
    assert fact.signature == "WARN get Topic [%RETRY%g-<run>] RouteInfoFromNameServer is not exist value"
    # Another level, and a line without a head, are something else.
    other = [lines[0], lines[0].replace("WARN", "ERROR"), f"java.lang.IllegalStateException: a - {said}"]
    assert len(found_in([("a", line) for line in other], TOKEN)) == 3


def test_a_log_is_of_the_node_whose_file_or_folder_it_is(tmp_path: Path) -> None:
    for name in ("broker-a.log", "a/logs/client.log", "b/notes.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"ERROR \xff\n")
    assert [fact.node for fact in log_findings(tmp_path, TOKEN)] == ["broker-a", "a"]
    assert log_findings(tmp_path / "none", TOKEN) == []


CLIENTS = [
    ("java", "5.5.0", {"a": "java@5.5.0", "b": "java@5.5.0"}, "java"),
    ("java", "4.9.4", {"a": "java@4.9.4"}, "java 4.9.4"),
    ("python", "2.0.0", {"a": "python@2.0.0"}, "python 2.0.0"),
    ("java+python", "5.5.0+2.0.0", {"a": "python@2.0.0", "b": "java@5.5.0"}, "java+python 2.0.0"),
    ("java", "4.9.4+5.5.0", {"a": "java@5.5.0", "b": "java@4.9.4"}, "java 4.9.4+java"),
    # Folders that don't tell which version is whose.
    ("java", "5.5.0", None, "java"),
    ("grpc", "5.1.2", None, "grpc 5.1.2"),
    ("java+python", "5.5.0+2.0.0", None, "java+python 2.0.0"),
    ("java+python", "4.9.4+5.5.0+2.0.0", None, "java+python 4.9.4+5.5.0+2.0.0"),
    ("", "5.5.0", {}, "none"),
    (None, None, None, "unknown"),
]


@pytest.mark.parametrize(("client", "version", "clients", "label"), CLIENTS)
def test_clients_have_a_version_where_it_is_not_the_brokers(
    client: str | None, version: str | None, clients: dict[str, str] | None, label: str
) -> None:
    given = record(client=client, client_version=version, clients=clients, rocketmq="5.5.0")
    assert client_label(given) == label


# Lines ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        b"noise",
        b'{"n": 1}',
        line(1, (0, "a", "consumer-started", {"client_id": "a"})),
        line(1, (0, "a", "consumer-stopped", {}), mono_ns=-1),
        line(1, (0, "a", "consumer-stopped", {}), mono_ns=2**63),
        line(1, (0, "a", "of-another-version", {})).replace(b'"a"', b'"\xff"'),
        line(1, (0, "a", "of-another-version", {})).replace(b'"data": {}', b'"data": 3'),
    ],
)
def test_a_line_that_is_no_event_is_broken(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        line_of(text)


def test_a_kind_of_a_newer_version_is_no_damage() -> None:
    assert line_of(line(1, (0, "a", "of-another-version", {"what": 1})))[0].kind == "of-another-version"
    assert json.loads(line(1, (0, "a", "x", {})))["node"] == "a"


def test_the_document_is_up_to_date() -> None:
    written = (Path(__file__).parents[3] / "docs" / "facts.md").read_text("utf-8")
    assert written == facts_reference(), "run: python -m rocketchaos.harness.reference.facts > docs/facts.md"
