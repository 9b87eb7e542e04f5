"""Members of one group that connect by gRPC, by a proxy's remoting port, or to the brokers."""

from __future__ import annotations

from typing import Any

from tests.unit.diagnose.broker_edits import proxy_knows
from tests.unit.diagnose.member_edits import ALIKE, OTHER
from tests.unit.diagnose.reports import diagnosed

BROKERS_KNOW_SOME = "A proxy and the brokers don't know each other's members"


def test_two_ways_to_one_proxy_are_told_without_the_brokers() -> None:
    """Measured on 5.4.0: the proxy knows both members, and no broker is asked for either."""

    def by_remoting(document: Any) -> None:
        if document.get("connectionSet"):
            document["connectionSet"][0]["clientId"] = "10.0.0.1@1"

    report = diagnosed("grpc-5.5.0.json", (203, by_remoting), looks=2)
    (found,) = [item for item in report.findings if item.check.code == "RC0211"]
    assert "uses a proxy by remoting" in found.sentence
    assert found.effect.startswith("gRPC members pop from all queues")


def test_of_members_at_a_proxy_and_at_the_brokers_neither_side_knows_the_other() -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, proxy_knows(OTHER), looks=2, proxies=("host-8:8080",))
    (found,) = [item for item in report.findings if item.check.code == "RC0211"]
    assert found.effect.startswith(BROKERS_KNOW_SOME)
