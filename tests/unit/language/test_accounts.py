"""Access control, as scenarios say it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocketchaos.harness.cluster import access_control
from rocketchaos.harness.cluster.cluster_kinds import CAN_NOT, ClusterKind
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.rocketmq.access_key import HARNESS, SECRET
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.scenario.statements import doubts

TEXT = """\
name: example
title: an example
cluster: {{{cluster}}}
topics: {{orders: {{queues: 2}}}}
producer: {{{producer}}}
consumers:
  a: {{group: g, {a}, subscribe: {{orders: '*'}}}}
steps:
  - start: a
anomaly: {{delivered: {{to: a, count: 1}}}}
healthy: {{delivered: {{to: a, count: 0}}}}
"""
ACCOUNTS = "accounts: {shop-account: {topicPerms: [orders=PUB|SUB, '%RETRY%g=DENY'], groupPerms: g=SUB}}"
SIGNED = "account: shop-account"
KINDS = ("known", "other-secret", "unknown")


def scenario(cluster: str = ACCOUNTS, producer: str = SIGNED, a: str = SIGNED) -> Scenario:
    return parse_scenario(TEXT.format(cluster=cluster, producer=producer, a=a), "x.yaml")


def test_a_cluster_with_accounts_is_of_its_own_and_has_the_names_as_written() -> None:
    made = scenario()
    assert made.names_as_written
    assert made.needs_own_cluster
    assert "access control" in made.required_capabilities
    assert "access control" in CAN_NOT[ClusterKind.CONTAINERS]
    assert made.cluster.shape != scenario("own: true", "", "process: own").cluster.shape


def test_brokers_get_the_accounts_in_rocketmqs_words_and_an_administrator(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    access_control.write_accounts(tmp_path, scenario().cluster.accounts)
    file = tmp_path / "conf" / "plain_acl.yml"
    assert file.stat().st_mode & 0o777 == 0o600
    admin, account = json.loads(file.read_text())["accounts"]
    assert admin == {"accessKey": HARNESS, "secretKey": SECRET, "admin": True}
    assert (tmp_path / access_control.KEY_FILE).read_text() == f"accessKey: {HARNESS}\nsecretKey: {SECRET}\n"
    assert account == {
        "accessKey": "shop-account",
        "secretKey": SECRET,
        "admin": False,
        "defaultTopicPerm": "DENY",
        "defaultGroupPerm": "DENY",
        "topicPerms": ["orders=PUB|SUB", "%RETRY%g=DENY"],
        "groupPerms": ["g=SUB"],
    }


def test_versions_that_sign_no_raw_requests_are_left_out() -> None:
    assert "has accounts" in str(scenario().lacks_on("4.9.3"))
    assert scenario().lacks_on("4.9.4") is None


def test_a_proxy_checks_accounts_from_5_3_on() -> None:
    behind_a_proxy = scenario(a=f"{SIGNED}, client: grpc")
    assert "has accounts and a proxy" in str(behind_a_proxy.lacks_on("5.2.0"))
    assert behind_a_proxy.lacks_on("5.3.3") is None


def test_a_proxy_asks_the_brokers_for_accounts_and_makes_none() -> None:
    lines = access_control.proxy_lines()
    assert lines["authenticationMetadataProvider"].endswith(".ProxyAuthenticationMetadataProvider")
    assert lines["innerClientAuthenticationCredentials"]
    assert "initAuthenticationUser" not in lines


def test_brokers_before_5_3_have_acl_1() -> None:
    assert access_control.broker_lines("5.2.0") == {"aclEnable": "true"}
    assert access_control.broker_lines("5.3.3")["migrateAuthFromV1Enabled"] == "true"


def test_a_producer_without_an_account_is_warned_of() -> None:
    text = TEXT.format(cluster=ACCOUNTS, producer="", a=SIGNED)
    sends = text.replace("steps:\n", "steps:\n  - send: {topic: orders, count: 1}\n")
    (doubt,) = doubts(sends)
    assert doubt.startswith("producer has no account, so brokers refuse its messages")
    assert not doubts(sends.replace("orders, count: 1}", "orders, count: 1, may_fail: true}"))
    assert not doubts(sends.replace("producer: {}", f"producer: {{{SIGNED}}}"))


def test_brokers_may_have_another_secret_of_an_account_or_no_such_account(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    made = scenario(
        "accounts: {shop-account: {at_brokers: other-secret}, new-account: {at_brokers: unknown}, "
        "far-account: {whiteRemoteAddress: 192.168.1.*}}"
    )
    access_control.write_accounts(tmp_path, made.cluster.accounts)
    _, wrong, far = json.loads((tmp_path / "conf" / "plain_acl.yml").read_text())["accounts"]
    assert (wrong["accessKey"], far["accessKey"]) == ("shop-account", "far-account")
    assert wrong["secretKey"] not in {SECRET, ""}
    assert (far["secretKey"], far["whiteRemoteAddress"]) == (SECRET, "192.168.1.*")
    assert not {"at_brokers", "whiteRemoteAddress"} & wrong.keys()
    shapes = {scenario(f"accounts: {{shop-account: {{at_brokers: {kind}}}}}").cluster.shape for kind in KINDS}
    assert len(shapes) == len(KINDS)


@pytest.mark.parametrize("kind", ["other-secret", "unknown"])
def test_a_producer_whose_account_brokers_refuse_is_warned_of(kind: str) -> None:
    text = TEXT.format(
        cluster=f"accounts: {{shop-account: {{at_brokers: {kind}}}}}", producer=SIGNED, a=SIGNED
    )
    sends = text.replace("steps:\n", "steps:\n  - send: {topic: orders, count: 1}\n")
    (doubt,) = doubts(sends)
    assert doubt.startswith(
        "brokers refuse the messages of producer, because of `at_brokers` of shop-account"
    )
    assert not doubts(sends.replace("orders, count: 1}", "orders, count: 1, may_fail: true}"))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"a": "account: shop-acount"}, "there is no account `shop-acount`"),
        ({"producer": "account: nobody-else"}, "there is no account `nobody-else`"),
        ({"cluster": "own: true"}, "there is no account `shop-account`"),
        (
            {"a": "account: shop-account, app: {command: [my-service]}"},
            "signs no requests here: leave out `account`",
        ),
        ({"cluster": f"{ACCOUNTS}, slaves: broker-a"}, "leave out `slaves`"),
        ({"cluster": f"{ACCOUNTS}, dashboard: true"}, "leave out `slaves` and `dashboard`"),
        ({"cluster": "accounts: {rocketchaos: {}, shop-account: {}}"}, "the account of the harness itself"),
        ({"cluster": "accounts: {short: {}, shop-account: {}}"}, "short"),
        ({"cluster": "accounts: {shop-account: {topicPerms: [orders]}}"}, "orders"),
    ],
)
def test_what_can_not_be_meant(changed: dict[str, str], said: str) -> None:
    with pytest.raises(UsageProblem) as raised:
        scenario(**changed)
    assert said in str(raised.value)
