"""Which client of a scenario is of the same kind as a live member."""

import re
from collections.abc import Collection

from rocketchaos.harness.diagnose.model import Member

_JAVA, _CPP, _GO = "JAVA", "CPP", "GO"
"""Of RocketMQ's LanguageCode."""
_JAVA_VERSION = re.compile(r"V(\d+)_(\d+)_(\d+)")
_GO_VERSIONS = {"v2.0.0": "go@2.0.0", "v2.1.0": "go@2.1.1", "v2.1.1": "go"}
"""By its PROP_CLIENT_VERSION (internal/client.go): 2.1.1 reports v2.1.0, as 2.1.0 does, and 2.1.2 v2.1.1."""


def is_java(member: Member) -> bool:
    """Whether its client is Java's."""
    return member.language == _JAVA


def is_lite_pull(member: Member) -> bool:
    """Whether it is a DefaultLitePullConsumer: no other client reports this property of it."""
    return "autoCommit" in member.properties


def is_usual(member: Member) -> bool:
    """Whether it is a DefaultMQPushConsumer of Java."""
    return is_java(member) and not is_lite_pull(member) and not member.pulls_by_itself


def is_go(member: Member) -> bool:
    """Whether its client is rocketmq-client-go."""
    return member.language == _GO


def id_order(member: Member) -> tuple[bool, str]:
    """Sorts members as a scenario's client ids: those of Go and C++ begin with an address, others with a name."""
    return member.language not in (_GO, _CPP), member.client_id


def client_of(member: Member, members: Collection[Member]) -> str | None:
    """`client` of its consumer in a scenario; None: Java in the brokers' version."""
    reported = member.properties.get("PROP_CLIENT_VERSION", "")
    if member.language == _CPP:
        return "python"
    if member.language == _GO:
        return _GO_VERSIONS.get(reported, "go")
    versions = {item.properties.get("PROP_CLIENT_VERSION", "") for item in members if is_java(item)} - {""}
    version = _JAVA_VERSION.fullmatch(reported)
    if is_java(member) and len(versions) > 1 and version:
        return f"java@{'.'.join(version.groups())}"
    return None


def other_languages(members: Collection[Member], by_grpc: Collection[str]) -> str:
    """A sentence on the members for which a Java client stands; empty: there are none."""
    others = sorted(
        {
            item.language
            for item in members
            if item.language not in ("", _JAVA, _CPP, _GO) and item.client_id not in by_grpc
        }
    )
    return f"A Java client stands for each {' and '.join(others)} client." if others else ""
