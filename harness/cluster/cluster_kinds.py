"""The kinds of clusters, by name; a new kind is registered here alone."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketchaos.harness.cluster.server_cluster import ServerCluster


class ClusterKind(StrEnum):
    """Where name server and brokers run."""

    EMBEDDED = "embedded"
    """As JVM processes of this host, on loopback."""
    CONTAINERS = "containers"
    """In containers, on a network of their own."""


CAN_NOT: Mapping[ClusterKind, frozenset[str]] = MappingProxyType(
    {
        ClusterKind.EMBEDDED: frozenset(
            {"container workers", "dashboard", "delay", "hostnames", "partition"}
        ),
        ClusterKind.CONTAINERS: frozenset(
            {
                "access control",
                "controller",
                "fill a disk",
                "flow control",
                "lose files",
                "proxy: local",
                "several name servers",
                "stall",
                "upgrade",
            }
        ),
    }
)
"""The capabilities that a kind lacks, by the names of `harness.cluster.base.CAPABILITIES`: said here, so that no
cluster is loaded to read a scenario. A test compares them with the classes."""


def cluster_class(kind: ClusterKind) -> type[ServerCluster]:
    """What makes clusters of this kind.

    Loaded where it is needed: what speaks to a container engine takes a while to load.
    """
    if kind is ClusterKind.CONTAINERS:
        from rocketchaos.harness.cluster.container_cluster import ContainersCluster

        return ContainersCluster
    from rocketchaos.harness.cluster.embedded import EmbeddedCluster

    return EmbeddedCluster
