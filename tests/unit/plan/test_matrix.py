"""`--matrix`: its words, the cells that they mean, and what is impossible among them."""

from __future__ import annotations

from typing import Any

import pytest

from rocketchaos.harness.cli.matrix_option import matrix_of, one_option_a_word
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.plan.matrix import Cell, Matrix, Plan, is_word, left_out_lines, parse_matrix, plan
from rocketchaos.harness.rocketmq.client_kinds import client_choice
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.history_builder import EIGHT_MESSAGES, scenario_of


def parsed(text: str) -> tuple[list[str], list[str]]:
    matrix = parse_matrix(text.split())
    return [str(client) for client in matrix.clients], list(matrix.rocketmq)


def scenario(name: str = "example", **consumers: str) -> Scenario:
    """The classic experiment, with these clients named by its consumers, and more fields of theirs."""
    text = EIGHT_MESSAGES.replace("name: same-group-different-tags", f"name: {name}")
    for consumer, more in consumers.items():
        text = text.replace(f"  {consumer}: {{group: g,", f"  {consumer}: {{{more}, group: g,")
    return scenario_of(text)


def planned(scenarios: list[Scenario], words: str, version: str = "4.9.4") -> Plan:
    return plan(scenarios, parse_matrix(words.split()).cells(version), ClusterKind.EMBEDDED)


def cells(of: Plan) -> list[tuple[str, str, str]]:
    return [(job.scenario.name, job.clients, job.rocketmq) for job in of.jobs]


@pytest.mark.parametrize(
    ("text", "clients", "versions"),
    [
        ("clients=java,python,grpc rocketmq=4.9.4,5.5.0", ["java", "python", "grpc"], ["4.9.4", "5.5.0"]),
        ("rocketmq=5.5.0 clients=java@4.9.4", ["java@4.9.4"], ["5.5.0"]),
        ("clients=java", ["java"], []),
        ("rocketmq=4.9.4", [], ["4.9.4"]),
    ],
)
def test_words_in_any_order(text: str, clients: list[str], versions: list[str]) -> None:
    assert parsed(text) == (clients, versions)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("clients=jvaa", ["`jvaa` is no client", "did you mean `java`?"]),
        ("clients=java@4.9", ["`java@4.9` is no client"]),
        ("clients=java@banana", ["`java@banana` is no client"]),
        ("clients=python@1.2.3", ["version 2.0.0: write `python`"]),
        ("clients=", ["`clients` is empty"]),
        ("clients=java,,python", ["an entry of `clients` is empty"]),
        ("clients=java,python,java", ["`java` is given twice in `clients`"]),
        ("clients=java clients=python", ["`clients` is given twice"]),
        ("rocketmq=4.9,5.5.0", ["'4.9' is no RocketMQ version"]),
        ("rocketmq=4.9.4,banana", ["'banana' is no RocketMQ version", "4.9.4 or 5.3.3"]),
        ("rokcetmq=4.9.4", ["no dimension `rokcetmq` (the ", "`rocketmq`); did you mean `rocketmq=…`?"]),
        ("scenarios", ["`scenarios` lacks a `=`"]),
        ("clients=jvaa rocketmq=x brokers=2", ["`jvaa`", "'x' is no", "no dimension `brokers`"]),
    ],
)
def test_all_that_is_wrong_is_said_at_once(text: str, problems: list[str]) -> None:
    with pytest.raises(UsageProblem) as refused:
        parse_matrix(text.split())
    assert refused.value.exit_code is ExitCode.USAGE
    assert [problem for problem in problems if problem not in str(refused.value)] == []
    assert "--matrix clients=java,python rocketmq=4.9.4,5.5.0" in refused.value.hint


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("a --matrix clients=x rocketmq=1 b", "a --matrix clients=x --matrix rocketmq=1 b"),
        ("--matrix=clients=x rocketmq=1 b", "--matrix=clients=x --matrix rocketmq=1 b"),
        ("--matrix clients=x --matrix rocketmq=1", "--matrix clients=x --matrix rocketmq=1"),
        ("--matrix clients=x --json rocketmq=1", "--matrix clients=x --json rocketmq=1"),
        ("--matrix clients=x a rocketmq=1", "--matrix clients=x a rocketmq=1"),
        ("a/b=c --matrix clients=x a/b=c", "a/b=c --matrix clients=x a/b=c"),
        ("--matrix", "--matrix"),
        ("-- --matrix clients=x rocketmq=1", "-- --matrix clients=x rocketmq=1"),
    ],
)
def test_the_option_takes_the_words_that_belong_to_it(arguments: str, wanted: str) -> None:
    assert one_option_a_word(arguments.split()) == wanted.split()


def test_what_is_a_word_of_the_matrix() -> None:
    assert [
        text for text in ("clients=java", "foo=", "./clients=java", "a", "=x", "-k=b") if is_word(text)
    ] == [
        "clients=java",
        "foo=",
    ]


def test_without_the_option_there_is_no_matrix() -> None:
    assert matrix_of(None) is None
    assert Matrix().cells("4.9.4") == (Cell(None, "4.9.4"),)


def test_the_product_version_by_version() -> None:
    found = parse_matrix(["clients=java,python", "rocketmq=4.9.4,5.5.0"]).cells("4.9.7")
    assert [(str(cell.client), cell.rocketmq) for cell in found] == [
        ("java", "4.9.4"),
        ("python", "4.9.4"),
        ("java", "5.5.0"),
        ("python", "5.5.0"),
    ]


def test_a_missing_dimension_stays_as_it_is_otherwise() -> None:
    java = client_choice("java")
    assert parse_matrix(["clients=java"]).cells("5.3.3") == (Cell(java, "5.3.3"),)
    assert parse_matrix(["rocketmq=5.5.0"]).cells("4.9.4") == (Cell(None, "5.5.0"),)
    assert parse_matrix(["rocketmq=5.5.0"]).cells("4.9.4", java) == (Cell(java, "5.5.0"),)


@pytest.mark.parametrize(
    "words", ["rocketmq=4.9.4,9.9.9", "clients=grpc rocketmq=5.5.0,3.2.6", "clients=java@3.2.6,java"]
)
def test_a_version_that_is_not_supported_is_for_who_knows_what_can_be_had(words: str) -> None:
    found = planned([scenario()], words)
    assert [(job.clients, job.rocketmq) for job in found.jobs] == [
        (str(cell.client or "java"), cell.rocketmq) for cell in parse_matrix(words.split()).cells("4.9.4")
    ]
    assert found.left_out == ()


def test_grpc_needs_the_proxy_of_5() -> None:
    found = planned([scenario()], "clients=java,grpc rocketmq=4.9.4,5.5.0")
    assert cells(found) == [
        ("example", "java", "4.9.4"),
        ("example", "java", "5.5.0"),
        ("example", "grpc", "5.5.0"),
    ]
    (item,) = found.left_out
    assert (item.scenario, item.client, item.rocketmq) == ("example", "grpc", "4.9.4")
    assert item.reason.startswith("example can't have grpc for a: it needs the proxy")


def test_what_is_left_out_for_one_reason_is_reported_in_one_line() -> None:
    found = planned([scenario("first"), scenario("second")], "clients=java,grpc rocketmq=4.9.4,4.9.7")
    assert [line.partition(" can't")[0] for line in left_out_lines(found.left_out)] == [
        "grpc on RocketMQ 4.9.4: first, second",
        "grpc on RocketMQ 4.9.7: first, second",
    ]


def test_an_api_that_a_client_lacks_is_left_out() -> None:
    found = planned([scenario(a="api: lite-pull")], "clients=java,python")
    assert cells(found) == [("example", "java", "4.9.4")]
    assert "`api: lite-pull`" in found.left_out[0].reason


def test_a_scenario_of_other_versions_is_left_out_there() -> None:
    new = scenario().model_copy(update={"rocketmq": ">=5.0"})
    found = planned([new], "rocketmq=4.9.4,5.5.0")
    assert cells(found) == [("example", "java", "5.5.0")]
    assert "about RocketMQ >=5.0" in found.left_out[0].reason


def test_a_scenario_that_names_all_its_clients_runs_once_a_version() -> None:
    mixed = scenario("mixed", a="client: python", b="client: java@4.9.4")
    found = planned([scenario(), mixed], "clients=java,python rocketmq=4.9.4,5.5.0")
    assert cells(found) == [
        ("example", "java", "4.9.4"),
        ("example", "python", "4.9.4"),
        ("example", "java", "5.5.0"),
        ("example", "python", "5.5.0"),
        ("mixed", "java@4.9.4+python", "4.9.4"),
        ("mixed", "java@4.9.4+python", "5.5.0"),
    ]
    assert {job.client for job in found.jobs if job.scenario.name == "mixed"} == {None}


def test_a_member_that_names_its_client_keeps_it() -> None:
    half = scenario(a="client: python")
    found = planned([half], "clients=java,python")
    assert cells(found) == [("example", "java+python", "4.9.4"), ("example", "python", "4.9.4")]


def test_nothing_left_is_a_usage_problem_with_the_reasons() -> None:
    with pytest.raises(UsageProblem, match=r"no scenario is left for RocketMQ 4\.9\.4 .*needs the proxy"):
        planned([scenario()], "clients=grpc rocketmq=4.9.4")
    with pytest.raises(UsageProblem, match="is no RocketMQ version"):
        plan([scenario()], Matrix().cells("x"), ClusterKind.EMBEDDED)


@pytest.mark.parametrize(
    ("consumers", "client", "own", "played"),
    [
        ({}, "python", "java", "python"),
        ({"a": "client: python"}, "grpc", "java+python", "grpc+python"),
        ({"a": "client: python", "b": "client: python"}, "grpc", "python", "python"),
    ],
)
def test_a_scenario_knows_its_own_clients_whatever_it_is_given(
    consumers: dict[str, Any], client: str, own: str, played: str
) -> None:
    given = scenario(**consumers).with_client(client_choice(client))
    assert (given.own_client_label, given.client_label) == (own, played)
    assert given.with_client(client_choice("java")).own_client_label == own
