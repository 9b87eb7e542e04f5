"""What a release that can't be had costs: the jobs that need it, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode, RocketchaosError, UsageProblem
from rocketchaos.harness.jars.releases import Need
from rocketchaos.harness.plan.job import Job, job_of
from rocketchaos.harness.plan.matrix import LeftOut, code_with, left_out_lines
from rocketchaos.harness.plan.obtainable import needs_of, obtainable
from rocketchaos.harness.rocketmq.client_kinds import client_choice
from tests.unit.history_builder import EIGHT_MESSAGES, scenario_of

NONE = UsageProblem("there is no RocketMQ 4.9.99", "The nearest versions: 4.9.7, 5.0.0.")
UNREACHED = EnvironmentNotReady("RocketMQ 5.5.0 is not in the cache, and Maven Central could not be reached")
PROXY = ("all-servers",)


def job(client: str, rocketmq: str) -> Job:
    return job_of(scenario_of(EIGHT_MESSAGES), rocketmq, client_choice(client))


def split(
    jobs: list[Job], absent: Mapping[Need, RocketchaosError]
) -> tuple[list[tuple[str, str]], list[LeftOut]]:
    left, without = obtainable(jobs, ClusterKind.EMBEDDED, absent)
    return [(item.clients, item.rocketmq) for item in left], without


@pytest.mark.parametrize(
    ("client", "kind", "needs"),
    [
        ("java", ClusterKind.EMBEDDED, [Need("5.5.0")]),
        ("java@5.5.0", ClusterKind.EMBEDDED, [Need("5.5.0")]),
        ("java@4.9.6", ClusterKind.EMBEDDED, [Need("5.5.0"), Need("4.9.6", ("client",))]),
        ("python", ClusterKind.EMBEDDED, [Need("5.5.0")]),
        ("grpc", ClusterKind.EMBEDDED, [Need("5.5.0"), Need("5.5.0", PROXY)]),
        ("grpc", ClusterKind.CONTAINERS, [Need("5.5.0")]),
    ],
)
def test_what_a_job_needs(client: str, kind: ClusterKind, needs: list[Need]) -> None:
    assert list(needs_of(job(client, "5.5.0"), kind)) == needs


def test_one_version_costs_its_own_cells_alone() -> None:
    jobs = [job(client, version) for version in ("4.9.4", "4.9.99", "5.5.0") for client in ("java", "python")]
    left, without = split(jobs * 2, {Need("4.9.99"): NONE})
    assert left == [(client, version) for version in ("4.9.4", "5.5.0") for client in ("java", "python")] * 2
    assert [(item.client, item.rocketmq, item.code) for item in without] == [
        ("java", "4.9.99", ExitCode.USAGE),
        ("python", "4.9.99", ExitCode.USAGE),
    ]
    assert left_out_lines(without) == [
        "java, python on RocketMQ 4.9.99: there is no RocketMQ 4.9.99. The nearest versions: 4.9.7, 5.0.0."
    ]


def test_a_client_s_version_costs_its_own_cells_alone() -> None:
    left, without = split(
        [job("java", "5.5.0"), job("java@4.9.99", "5.5.0")], {Need("4.9.99", ("client",)): NONE}
    )
    assert left == [("java", "5.5.0")]
    assert [(item.client, item.code) for item in without] == [("java@4.9.99", ExitCode.USAGE)]


def test_a_release_without_a_proxy_is_as_those_that_can_t_have_one() -> None:
    absent = {Need("5.1.4", PROXY): UsageProblem("there is no RocketMQ 5.1.4: rocketmq-proxy is missing")}
    left, (without,) = split([job("java", "5.1.4"), job("grpc", "5.1.4")], absent)
    assert left == [("java", "5.1.4")]
    assert without.code is ExitCode.AS_EXPECTED
    assert without.reason.startswith("same-group-different-tags needs a proxy: there is no RocketMQ 5.1.4")


def test_a_proxy_that_can_t_be_had_now_is_missing_all_the_same() -> None:
    _, (without,) = split([job("java", "5.5.0"), job("grpc", "5.5.0")], {Need("5.5.0", PROXY): UNREACHED})
    assert without.code is ExitCode.ENVIRONMENT


@pytest.mark.parametrize(
    ("absent", "kind", "texts"),
    [
        (
            {Need("4.9.99"): NONE, Need("5.5.0"): UNREACHED},
            UsageProblem,
            ["4.9.99", "The nearest", "5.5.0 is not"],
        ),
        (
            {Need("4.9.99"): UNREACHED, Need("5.5.0"): UNREACHED},
            EnvironmentNotReady,
            ["could not be reached"],
        ),
        ({Need("4.9.99"): NONE, Need("5.5.0"): NONE}, UsageProblem, ["The nearest versions: 4.9.7, 5.0.0."]),
    ],
)
def test_nothing_left_is_one_message(
    absent: Mapping[Need, RocketchaosError], kind: type[RocketchaosError], texts: list[str]
) -> None:
    with pytest.raises(kind) as raised:
        split([job("java", "4.9.99"), job("java", "5.5.0")], absent)
    assert [text for text in texts if str(raised.value).count(text) != 1] == []


@pytest.mark.parametrize(
    ("runs", "left_out", "code"),
    [
        (ExitCode.AS_EXPECTED, [], ExitCode.AS_EXPECTED),
        (ExitCode.AS_EXPECTED, [ExitCode.AS_EXPECTED], ExitCode.AS_EXPECTED),
        (ExitCode.AS_EXPECTED, [ExitCode.USAGE], ExitCode.USAGE),
        (ExitCode.NOT_AS_EXPECTED, [ExitCode.ENVIRONMENT], ExitCode.ENVIRONMENT),
        (ExitCode.HARNESS, [ExitCode.USAGE, ExitCode.ENVIRONMENT], ExitCode.HARNESS),
    ],
)
def test_the_gravest_code_counts(runs: ExitCode, left_out: list[ExitCode], code: ExitCode) -> None:
    assert (
        code_with([LeftOut("s", "java", "4.9.4", "why", exit_code) for exit_code in left_out], runs) is code
    )
