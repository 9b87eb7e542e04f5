"""The world of planted truth calls its clients as an ingest does."""

from __future__ import annotations

import pytest

from tests.benchmarks.spark.world import CLIENTS_AND_VERSIONS


@pytest.mark.parametrize(("client", "rocketmq"), CLIENTS_AND_VERSIONS)
def test_clients_have_a_version_where_it_is_not_the_brokers(client: str, rocketmq: str) -> None:
    kind, _, version = client.partition(" ")
    assert (kind == "java") == (version == "")
    assert version != rocketmq
