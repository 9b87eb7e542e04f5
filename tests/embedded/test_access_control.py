"""Accounts that a scenario gives, on real brokers with ACL 1 and ACL 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.rocketmq.access_key import SECRET

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

SCENARIO = """\
name: accounts
title: clients of three languages with accounts, of which some may not do what they try, and some without any
cluster:
  accounts:
    shop-account: {topicPerms: [orders=PUB]}
    audit-account: {topicPerms: [orders=SUB], groupPerms: [g=SUB, in-go=SUB, in-python=SUB]}
    admin-account: {admin: true}
topics: {orders: {queues: 1}}
producer: {account: shop-account}
producers:
  reader: {account: audit-account}
  nobody: {}
  go-shop: {account: shop-account, client: go}
  go-nobody: {client: go}
  python-shop: {account: shop-account, client: python}
  python-nobody: {client: python}
consumers:
  a: {group: g, account: audit-account, subscribe: {orders: '*'}}
  b: {group: other, account: audit-account, subscribe: {orders: '*'}}
  c: {group: in-go, account: audit-account, client: go, subscribe: {orders: '*'}}
  d: {group: in-python, account: audit-account, client: python, subscribe: {orders: '*'}}
steps:
  - start: [a, b, c, d]
  - send: {topic: orders, count: 2}
  - send: {topic: orders, count: 3, producer: reader, may_fail: true}
  - send: {topic: orders, count: 4, producer: nobody, may_fail: true}
  - send: {topic: orders, count: 1, producer: go-shop}
  - send: {topic: orders, count: 1, producer: python-shop}
  - send: {topic: orders, count: 1, producer: go-nobody, may_fail: true}
  - send: {topic: orders, count: 1, producer: python-nobody, may_fail: true}
  - settle: {delivered: a, count: 4, within: 60s}
  - settle: {delivered: c, count: 4, within: 60s}
  - settle: {delivered: d, count: 4, within: 60s}
  - mqadmin: {as: signed, command: "topicStatus -t <orders>", account: admin-account}
  - mqadmin: {as: unsigned, command: "topicStatus -t <orders>"}
anomaly:
  - mqadmin: {of: signed, has: '^broker-a +0 +0 +4'}
  - mqadmin: {of: unsigned, has: 'CODE: (1|16) '}
  - send-refused: {topic: orders, count: 7, exception: MQBrokerException}
  - send-refused: {topic: orders, count: 9}
  - delivered: {to: a, count: 4}
  - delivered: {to: c, count: 4}
  - delivered: {to: d, count: 4}
  - delivered: {to: b, count: 0}
healthy:
  - send-refused: {topic: orders, count: 0}
"""


def ends_as_expected_and_shows_no_secret(
    text: str, version: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "accounts.scenario.yaml"
    file.write_text(text)
    code = main(["run", str(file), "--rocketmq", version, "--runs", str(folder / "runs")])
    shown = capsys.readouterr()
    assert code == 0, shown.out + shown.err
    assert SECRET not in shown.out + shown.err
    written = [item for item in (folder / "runs").rglob("*") if item.is_file() and not item.is_symlink()]
    assert [str(item) for item in written if SECRET.encode() in item.read_bytes()] == []


@pytest.mark.parametrize("version", ["4.9.4", pytest.param("5.5.0", marks=pytest.mark.nightly)])
def test_brokers_refuse_what_an_account_may_not_do_and_no_output_has_its_secret(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_as_expected_and_shows_no_secret(SCENARIO, version, tmp_path, capsys)


THROUGH_A_PROXY = """\
name: accounts-through-a-proxy
title: gRPC clients with accounts, and some without any
rocketmq: '>=5.3'
cluster:
  proxy: MODE
  accounts:
    shop-account: {topicPerms: [orders=PUB]}
    audit-account: {topicPerms: [orders=SUB], groupPerms: [g=SUB, in-java=SUB]}
topics: {orders: {queues: 1}}
producer: {account: shop-account, client: grpc}
producers:
  reader: {account: audit-account, client: grpc}
  nobody: {client: grpc}
consumers:
  a: {group: g, account: audit-account, client: grpc, subscribe: {orders: '*'}}
  b: {group: other, account: audit-account, client: grpc, subscribe: {orders: '*'}}
  c: {group: in-java, account: audit-account, through: proxy, subscribe: {orders: '*'}}
steps:
  - start: [a, c]
  - start: {consumers: b, may_be_refused: true}
  - send: {topic: orders, count: 2}
  - send: {topic: orders, count: 3, producer: reader, may_fail: true}
  - send: {topic: orders, count: 4, producer: nobody, may_fail: true}
  - settle: {delivered: a, count: 2, within: 60s}
  - settle: {delivered: c, count: 2, within: 60s}
anomaly:
  - send-refused: {topic: orders, count: 3, because: has no permission to access Topic}
  - send-refused: {topic: orders, count: 4, because: failed to fetch topic}
  - start-refused: {consumer: b}
  - delivered: {to: a, count: 2}
  - delivered: {to: c, count: 2}
healthy:
  - send-refused: {topic: orders, count: 0}
"""


@pytest.mark.nightly
@pytest.mark.parametrize("mode", ["cluster", "local"])
def test_a_proxy_refuses_what_an_account_may_not_do(
    mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = THROUGH_A_PROXY.replace("MODE", mode)
    if mode == "local":
        text = text.replace(", through: proxy", "")
    ends_as_expected_and_shows_no_secret(text, "5.5.0", tmp_path, capsys)
