"""Accounts that a scenario gives, on real brokers with ACL 1 and ACL 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.rocketmq.access_key import SECRET

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

SCENARIO = """\
name: accounts
title: two producers with an account each, of which one may not send, and one without any
cluster:
  accounts:
    shop-account: {topicPerms: [orders=PUB]}
    audit-account: {topicPerms: [orders=SUB], groupPerms: [g=SUB]}
topics: {orders: {queues: 1}}
producer: {account: shop-account}
producers:
  reader: {account: audit-account}
  nobody: {}
consumers:
  a: {group: g, account: audit-account, subscribe: {orders: '*'}}
  b: {group: other, account: audit-account, subscribe: {orders: '*'}}
steps:
  - start: [a, b]
  - send: {topic: orders, count: 2}
  - send: {topic: orders, count: 3, producer: reader, may_fail: true}
  - send: {topic: orders, count: 4, producer: nobody, may_fail: true}
  - settle: {delivered: a, count: 2, within: 60s}
anomaly:
  - send-refused: {topic: orders, count: 7, exception: MQBrokerException}
  - delivered: {to: a, count: 2}
  - delivered: {to: b, count: 0}
healthy:
  - send-refused: {topic: orders, count: 0}
"""


@pytest.mark.parametrize("version", ["4.9.4", pytest.param("5.5.0", marks=pytest.mark.nightly)])
def test_brokers_refuse_what_an_account_may_not_do_and_no_output_has_its_secret(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "accounts.scenario.yaml"
    file.write_text(SCENARIO)
    code = main(["run", str(file), "--rocketmq", version, "--runs", str(tmp_path / "runs")])
    shown = capsys.readouterr()
    assert code == 0, shown.out + shown.err
    assert SECRET not in shown.out + shown.err
    written = [item for item in (tmp_path / "runs").rglob("*") if item.is_file() and not item.is_symlink()]
    assert [str(item) for item in written if SECRET.encode() in item.read_bytes()] == []
