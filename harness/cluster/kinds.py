"""The kinds of clusters, by name; a new kind is registered here alone."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.cluster.server_cluster import ServerCluster


class ClusterKind(StrEnum):
    """Where name server and brokers run."""

    EMBEDDED = "embedded"
    """As JVM processes of this host, on loopback."""
    CONTAINERS = "containers"
    """In containers, on a network of their own."""


def cluster_class(kind: ClusterKind) -> type[ServerCluster]:
    """What makes clusters of this kind.

    Loaded where it is needed: what speaks to a container engine takes a while to load.
    """
    if kind is ClusterKind.CONTAINERS:
        from harness.cluster.containers import ContainersCluster

        return ContainersCluster
    from harness.cluster.embedded import EmbeddedCluster

    return EmbeddedCluster
