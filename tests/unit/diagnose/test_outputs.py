"""Text, JSON, pages and bundles: the same finding everywhere, and nothing of the cluster steers them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.diagnose import bundle, read
from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import FAMILIES, Undetermined
from rocketchaos.harness.diagnose.output.document import document
from rocketchaos.harness.diagnose.output.page import page
from rocketchaos.harness.diagnose.output.text import text
from rocketchaos.harness.diagnose.pseudonyms import Pseudonyms
from rocketchaos.harness.reference.diagnose import diagnose_reference
from tests.unit.diagnose.reports import RECORDED, diagnosed

NASTY = "<script>alert(1)</script>\x1b[31m"


def _nasty(document: Any) -> None:
    for item in document["subscriptionSet"]:
        if not item["topic"].startswith("%RETRY%"):
            item["subString"] += NASTY


def test_checks_that_found_nothing_are_codes_by_what_they_look_at_and_sentences_if_asked() -> None:
    report = diagnosed("mismatch-5.5.0.json")
    short, long = text(report), text(report, verbose=True)
    assert (
        "subscriptions (RC0102, RC0105-RC0107); members (RC0201-RC0209, RC0211-RC0214, RC0216, RC0218)"
        in " ".join(short.split())
    )
    assert "every queue has an owner" not in short
    assert "every queue has an owner (RC0301)" in " ".join(long.split())
    for caveat in (
        "only `--watch 2m` sees two processes that take turns under one name",
        "a broker that left earlier, and of which no member has a queue now, looks like none",
    ):
        assert all(caveat in " ".join(shown.split()) for shown in (short, long))
    assert len(short.splitlines()) < len(long.splitlines())


def test_one_statement_about_several_groups_is_printed_once() -> None:
    report = diagnosed("mismatch-5.5.0.json")
    (finding,) = report.findings
    others = [replace(finding, group=group) for group in ("group-2", "group-3")]
    differs = replace(finding, group="group-4", sentence="something else")
    several = replace(report, findings=(finding, *others, differs))
    shown = " ".join(text(several).split())
    assert shown.count(finding.sentence) == 1
    assert "also of: groups group-2 and group-3 error [RC0101] (group group-4" in shown
    known = " ".join(text(several, known={finding.headline}).split())
    assert "(proof above) also of: groups group-2 and group-3" in known
    html = page(several, ExitCode.NOT_AS_EXPECTED)
    assert html.count("<article") == 2
    assert "<p>Also of groups\n<code>group-2</code>, <code>group-3</code>.</p>" in html
    assert len(document(several, ExitCode.NOT_AS_EXPECTED)["findings"]) == 4
    assert "also of" not in text(report).lower()
    assert "Also of" not in page(report, ExitCode.NOT_AS_EXPECTED)


def test_groups_in_which_the_same_checks_found_nothing_share_a_paragraph() -> None:
    report = diagnosed("mismatch-5.5.0.json")
    own = [item for item in report.ruled_out if item.group]
    others = [replace(item, group=f"group-{number}") for number in range(2, 9) for item in own]
    shown = " ".join(text(replace(report, ruled_out=(*report.ruled_out, *others[:-1]))).split())
    alike = "group-1, group-2, group-3, group-4, group-5, group-6 and group-7"
    assert shown.count("no finding for group") == 2
    assert f"no finding for groups {alike}: " in shown
    assert "no finding for group group-8: " in shown
    assert "no finding for the cluster: " in shown
    each_lacks_another = [item for number, item in enumerate(others) if number % (len(own) + 1)]
    mixed = replace(report, ruled_out=(*report.ruled_out, *each_lacks_another))
    assert "no finding for" not in text(mixed)
    assert text(mixed, verbose=True).count("no finding for") > 4


def test_a_reason_that_leaves_several_groups_open_is_printed_once() -> None:
    report = diagnosed("mismatch-5.5.0.json")
    check = CHECKS["RC0401"]
    reasons = [Undetermined(check, group, "t", "nobody knows", ()) for group in ("g", "h", "")]
    silences = [
        Undetermined(CHECKS[code], group, "", "silent", (), by_silence=True)
        for group, codes in (("g", ("RC0102", "RC0601")), ("h", ("RC0102", "RC0601")), ("i", ("RC0102",)))
        for code in codes
    ]
    shown = " ".join(text(replace(report, undetermined=(*reasons, *silences))).split())
    assert (
        f"undetermined [RC0401] (group g, topic t) {check.title}? nobody knows; so for group h and the cluster"
        in shown
    )
    assert (
        "undetermined for groups g and h because members don't answer: RC0102, RC0601 undetermined" in shown
    )
    assert "undetermined for group i because members don't answer: RC0102 no finding" in shown


def test_every_check_belongs_to_a_family() -> None:
    assert {code[:4] for code in CHECKS} == set(FAMILIES)


def test_what_comes_from_the_cluster_steers_no_output() -> None:
    report = diagnosed("mismatch-4.9.4.json", (307, _nasty))
    assert "RC0101" in {finding.check.code for finding in report.findings}
    assert "\x1b" not in text(report)
    assert "<script>" not in page(report, ExitCode.NOT_AS_EXPECTED)


def test_json_has_code_level_resource_evidence_and_change() -> None:
    shown = document(diagnosed("mismatch-5.5.0.json"), ExitCode.NOT_AS_EXPECTED)
    (finding,) = shown["findings"]
    assert finding["code"] == "RC0101"
    assert finding["level"] == "error"
    assert finding["group"] == "group-1"
    assert {item["request"] for item in finding["evidence"]} == {
        "307 GET_CONSUMER_RUNNING_INFO",
        "203 GET_CONSUMER_CONNECTION_LIST",
    }
    assert sum(item["count"] for item in finding["messages"]) == 12
    assert finding["page"] == "docs/diagnose.md#rc0101"
    assert "RC0301" in {item["code"] for item in shown["ruled_out"]}


def test_pseudonyms_are_the_same_everywhere_and_hide_every_name(tmp_path: Path) -> None:
    names = {"10.1.2.3": "", "shop-eu": "", "orders_paid": "", "payment_group": ""}
    body = (
        '{"connectionSet":[{"clientId":"10.1.2.3@17#99","clientAddr":"10.1.2.3:4711","language":"JAVA","version":401}],'
        '"subscriptionTable":{"orders_paid":{"topic":"orders_paid","subString":"tagA","secret":"orders_paid"},'
        '"%RETRY%payment_group":{"topic":"%RETRY%payment_group","subString":"*"}}}'
    )
    scope = bundle.Scope(("10.1.2.3:9876",), ("payment_group",))
    exchange = Exchange(
        0, "10.1.2.3:10911", 203, {"consumerGroup": "payment_group"}, 1, 1.0, 0,
        "group payment_group at 10.1.2.3 and 10.9.9.9", {}, body,
    )  # fmt: skip
    brokers = '{"brokerAddrTable":{"shop-eu":{"brokerName":"shop-eu","brokerAddrs":{0:"10.1.2.3:10911"}}}}'
    where = tmp_path / "bundle.json"
    private = bundle.write(where, scope, 1, [exchange, replace(exchange, code=106, body=brokers)])
    content = where.read_text()
    assert not [name for name in (*names, "10.9.9.9") if name in content]
    found = bundle.read(where).exchanges[0].document
    assert found["connectionSet"][0]["clientId"] == "host-1@17#99"
    assert found["connectionSet"][0]["clientAddr"] == "host-1:4711"
    assert set(found["subscriptionTable"]) == {"topic-1", "%RETRY%group-1"}
    assert json.loads(private.read_text())["topic"] == {"orders_paid": "topic-1"}
    assert private.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[" * 100_000, b'{"kind":"rocketchaos-diagnose"}', b"\xff\xfe"]
)
def test_what_is_no_bundle_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_bytes(content)
    with pytest.raises(UsageProblem, match="no bundle"):
        bundle.read(path)
    assert main(["diagnose", str(path)]) == ExitCode.USAGE


HUGE = "9" * 400


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("schema_version", "2", "later format"),
        ("schema_version", HUGE, "later format"),
        ("at_ms", HUGE, "no bundle"),
        ("look", HUGE, "no bundle"),
        ("looks", HUGE, "no bundle"),
        ("looks", "-1", "no bundle"),
    ],
)
def test_a_bundle_of_a_later_format_or_with_impossible_numbers_is_one_message(
    key: str, value: str, message: str, tmp_path: Path
) -> None:
    content = (RECORDED / "mismatch-5.5.0.json").read_text()
    path = tmp_path / "bundle.json"
    path.write_text(re.sub(rf'"{key}": ?[0-9]+', f'"{key}":{value}', content))
    with pytest.raises(UsageProblem, match=message):
        bundle.read(path)


@pytest.mark.parametrize("number", [HUGE, "2000000000", "-4", "\u00b2"])
def test_numbers_that_no_cluster_has_are_no_traceback_and_take_no_time(
    number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = bundle.read(RECORDED / "mismatch-5.5.0.json")

    def hostile(body: str) -> str:
        quoted = number if number.isascii() else f'"{number}"'
        body = re.sub(r'("(?:readQueueNums|maxOffset|version|perm)": )[0-9]+', rf"\g<1>{quoted}", body)
        keys = "bootTimestamp|consumeTimeout|consumeThreadMin"
        body = re.sub(rf'("(?:{keys})": )"[0-9]+"', rf'\g<1>"{number}"', body)
        order = f'"orderTopicConf": "broker-1:{number}", "filterServerTable"'
        body = body.replace('"filterServerTable"', order).replace("0 days", f"{number} days")
        return body.replace("brokerPermission=6", f"brokerPermission={number}")

    exchanges = [replace(exchange, body=hostile(exchange.body)) for exchange in known.exchanges]
    path = tmp_path / "bundle.json"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(known, exchanges=exchanges)))
    assert main(["diagnose", str(path), "--write-scenario", str(tmp_path / "written")]) in (0, 1, 3)
    assert "Traceback" not in capsys.readouterr().err


def test_a_page_has_no_character_that_steers_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bundle.json"
    path.write_text((RECORDED / "mismatch-5.5.0.json").read_text().replace("group-1", r"<b>\u001b[31m"))
    main(["diagnose", str(path), "-o", "html"])
    shown = capsys.readouterr().out
    assert "&lt;b&gt;" in shown
    assert "\x1b" not in shown


def test_a_page_counts_in_words_and_marks_what_is_typed() -> None:
    report = diagnosed("mismatch-5.5.0.json")
    shown = page(report, ExitCode.NOT_AS_EXPECTED)
    assert "1 error; 0 undetermined. 1 group at" in shown
    assert "1 look, the last at" in shown
    assert "wants <code>tagA</code>" in shown
    assert "203 GET_CONSUMER_CONNECTION_LIST {consumerGroup: group-1}" in shown
    two = page(replace(report, findings=report.findings * 2), ExitCode.NOT_AS_EXPECTED)
    assert "2 errors; 0 undetermined." in two


def test_answers_of_any_shape_are_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = bundle.read(RECORDED / "mismatch-4.9.4.json")
    shapes = [
        "",
        "[]",
        "7",
        '"x"',
        "{",
        '{"mqTable":7,"subscriptionSet":{"a":1},"properties":[]}',
        "null",
        "[[1]]",
    ]
    shapes += [
        '{"connectionSet":[7,{"clientId":{}}],"subscriptionTable":{"t":[]}}',
        '{"offsetTable":{"x":1,"{":{}}}',
    ]
    path = tmp_path / "bundle.json"
    for shape in shapes:
        for code in {exchange.code for exchange in known.exchanges}:
            exchanges = [
                replace(exchange, body=shape) if exchange.code == code else exchange
                for exchange in known.exchanges
            ]
            path.write_bytes(msgspec.json.encode(msgspec.structs.replace(known, exchanges=exchanges)))
            assert main(["diagnose", str(path)]) in (0, 1, 3, 4), (shape, code)
    assert "Traceback" not in capsys.readouterr().err


def test_the_same_codes_from_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    recorded = str(RECORDED / "mismatch-4.9.4.json")
    assert main(["diagnose", recorded, "-o", "json"]) == 1
    assert [load["code"] for load in json.loads(capsys.readouterr().out)["findings"]] == ["RC0101"]
    newer = ["--skip", "RC0811", "--skip", "RC0813"]  # of what this bundle is too old for
    assert main(["diagnose", recorded, "--skip", "RC0101"]) == 3
    assert main(["diagnose", recorded, "--skip", "RC0101", *newer]) == 0
    assert main(["diagnose", recorded, "--only", "rc0301"]) == 0
    assert main(["diagnose", recorded, "--only", "RC9999"]) == 2
    assert main(["diagnose", "--list"]) == 0
    assert main(["diagnose", "--namesrv", "127.0.0.1:1", "--group", "g"]) == 4
    assert main(["diagnose", "--namesrv", "nonsense"]) == 2


@pytest.mark.parametrize(
    "options",
    [
        ["--namesrv", "127.0.0.1:1"],
        ["--all-groups"],
        ["--tls"],
        ["--map", "10.0.0.1:10911=127.0.0.1:10911"],
        ["--access-key-file", "key.yml"],
        ["--watch", "1m"],
    ],
)
def test_a_bundle_takes_no_option_that_asks_a_cluster(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(RECORDED / "mismatch-4.9.4.json"), *options]) == 2
    assert f"{options[0]} can't be applied to it" in " ".join(capsys.readouterr().err.split())


def test_a_name_server_of_the_environment_leaves_a_bundle_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMESRV_ADDR", "127.0.0.1:1")
    assert main(["diagnose", str(RECORDED / "mismatch-4.9.4.json")]) == 1


def test_every_check_has_a_page_of_its_own() -> None:
    assert Path("docs/diagnose.md").read_text(encoding="utf-8") == diagnose_reference()
    assert len({check.title for check in CHECKS.values()}) == len(CHECKS)


def test_groups_of_rocketmq_itself_keep_their_names_so_that_a_bundle_leaves_them_out_too() -> None:
    recorded = bundle.read(RECORDED / "mismatch-5.5.0.json")

    def added(item: Exchange) -> Exchange:
        if item.code != 201:
            return item
        document = item.document
        table = document["subscriptionGroupTable"]
        for group in ("TOOLS_CONSUMER", "CID_RMQ_SYS_TRANS"):
            table[group] = {**next(iter(table.values())), "groupName": group}
        return replace(item, body=json.dumps(document))

    exchanges = [added(item) for item in recorded.exchanges]
    names = Pseudonyms.of(replace(recorded.scope, groups=None), exchanges)
    answer = next(names.exchange(item) for item in exchanges if item.code == 201)
    assert {"TOOLS_CONSUMER", "CID_RMQ_SYS_TRANS"} < set(answer.document["subscriptionGroupTable"])
    assert len(names.names["group"]) == 1


def test_the_type_of_a_groups_retry_policy_is_no_secret() -> None:
    groups = {"g": {"groupName": "g", "groupRetryPolicy": {"type": "EXPONENTIAL"}, "owner": "SHOP"}}
    exchange = Exchange(0, "h:1", 201, {}, 1, 1.0, 0, "", {}, json.dumps({"subscriptionGroupTable": groups}))
    redacted = Pseudonyms.of(bundle.Scope(("h:1",), None), [exchange]).exchange(exchange)
    (shown,) = redacted.document["subscriptionGroupTable"].values()
    assert shown["groupRetryPolicy"] == {"type": "EXPONENTIAL"}
    assert shown["owner"] == ""


@pytest.mark.parametrize(
    ("scope", "logical"), [("__global__", "__syslo__global__"), ("shop", "__syslo__shop")]
)
def test_the_queues_of_a_static_topic_are_those_of_its_members_in_a_bundle_too(
    scope: str, logical: str
) -> None:
    mapping = {"bname": "secret-a", "scope": scope, "topic": "orders", "currIdMap": {"0": 0}}
    route = {"queueDatas": [], "topicQueueMappingByBroker": {"secret-a": mapping}}
    queue = json.dumps({"brokerName": logical, "queueId": 0, "topic": "orders"})
    bodies = {105: route, 307: {"mqTable": {queue: {"cachedMsgCount": 0}}}}
    known = [
        Exchange(0, "h:1", code, {}, 1, 1.0, 0, "", {}, json.dumps(body)) for code, body in bodies.items()
    ]
    names = Pseudonyms.of(bundle.Scope(("h:1",), None), known)
    of_topic, of_member = (names.exchange(item) for item in known)
    (queues,) = read.member("a", of_member, ()).queues.values()
    assert tuple(queues) == read.route(of_topic).logical
    assert not re.search("secret|shop", of_topic.body + of_member.body)
