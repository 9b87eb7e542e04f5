"""The subject of each theme's scenarios. A theme is a folder below `scenarios/`."""

from collections.abc import Mapping

THEMES: Mapping[str, str] = {
    "clients": "Java, C++ and gRPC clients, POP, proxies, mixed versions",
    "dashboard": "what the dashboard shows, and what happened",
    "faults": "brokers and name servers die, disks fill, processes stall",
    "filter": "tags, SQL92, hash codes, retries that filters drop",
    "go": "the Go client, alone and together with Java's",
    "kills": "a member dies, and others take over",
    "network": "partitions, loss, delay between clients and servers",
    "offsets": "what is stored, reset, skipped or consumed twice",
    "pull": "pulls: lite, plain, long polling, raw requests",
    "rebalance": "who owns which queue, and when that changes",
    "subscription": "what brokers store for a group, and which member wins",
    "symptoms": "what users report: gone, stuck, twice, late, refused",
    "tags": "members of one group with different tags",
    "topics": "members of one group with different topics",
}
"""In at most 60 characters each; a test holds it against the folders."""
