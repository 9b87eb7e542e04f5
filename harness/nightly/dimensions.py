"""The dimensions along which scenarios differ: each is one small object, all in one registry. A dimension knows
nothing of the others, and predicts no effect. Whether a group agrees is drawn as well, member by member:
`subscriptions` says whether a further member takes over the first one's subscriptions or draws its own, which may
or may not be the same.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass

TAGS = ("tagA", "tagB", "tagC")
TOPICS = ("orders", "bills")
GROUPS = ("g1", "g2")
PRODUCERS = ("p2",)
MEMBERS = "abcdefghijkl"


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing that is drawn, among words of which each has a weight."""

    name: str
    meaning: str
    weights: Mapping[str, float]
    """By word; how often each is drawn in proportion to the others, unless a profile says it otherwise."""

    def draw(self, rng: random.Random, weights: Mapping[str, float] | None = None) -> str:
        """One of the words, by these weights or by its own."""
        chosen = self.weights if weights is None else weights
        return rng.choices(list(chosen), list(chosen.values()))[0]


_ALL = (
    Dimension("groups", "consumer groups", {"1": 6, "2": 2}),
    Dimension("topics", "topics", {"1": 5, "2": 4}),
    Dimension("queues", "queues of a topic", {"1": 1, "2": 2, "3": 1, "4": 5, "6": 1, "8": 2}),
    Dimension("members", "members of a group", {"1": 1, "2": 6, "3": 3, "4": 1}),
    Dimension("late", "members of a group that are started later", {"0": 5, "1": 3}),
    Dimension(
        "subscriptions",
        "a further member's subscriptions: the first one's, or its own",
        {"same": 4, "own": 5},
    ),
    Dimension("filter", "how a group subscribes", {"tags": 14, "sql": 1}),
    Dimension(
        "expression",
        "what a member wants of a topic; `none`: it doesn't subscribe to that",
        {"tagA": 4, "tagB": 4, "tagC": 1, "tagA || tagB": 2, "*": 4, "none": 4},
    ),
    Dimension(
        "client",
        "the client of a group's members, and how it consumes; those with weight 0 have long timers of their own",
        {
            "java push": 14,
            "java lite-pull": 1,
            "java pop": 1,
            "python push": 0,
            "go push": 0,
            "grpc push": 0,
            "grpc simple": 0,
            "grpc-java push": 0,
            "grpc-java simple": 0,
        },
    ),
    Dimension(
        "client_ids",
        "the order of client ids, which decides who owns what; `shared`: one client in two groups",
        {"names": 6, "reversed": 2, "shared": 1},
    ),
    Dimension(
        "strategy", "a group's allocation", {"average": 8, "average-by-circle": 1, "consistent-hash": 1}
    ),
    Dimension("strategies", "a further member's allocation", {"same": 15, "own": 1}),
    Dimension("listener", "how a group listens", {"concurrent": 6, "orderly": 1}),
    Dimension(
        "behaviour",
        "what a member's listener does",
        {
            "succeed": 10,
            "fail once": 3,
            "fail twice": 1,
            "throw once": 1,
            "slow": 2,
            "slow and fail": 1,
            "block": 1,
        },
    ),
    Dimension("batch", "messages a call of the listener", {"1": 5, "4": 1, "16": 1}),
    Dimension(
        "settings",
        "a property of a Java push consumer",
        {"none": 10, "pullBatchSize 1": 1, "consumeConcurrentlyMaxSpan 1": 1},
    ),
    Dimension("process", "where a member lives", {"shared": 5, "own": 1}),
    Dimension("brokers", "brokers", {"1": 9, "2": 1}),
    Dimension("messages", "messages to each queue, of one sending", {"1": 2, "2": 4, "4": 2, "8": 1}),
    Dimension(
        "sending",
        "how messages are sent; all but `usual` reach their queues without an answer that names them",
        {"usual": 16, "one-way": 1, "batch": 1, "delayed": 1, "transaction": 1, "checked": 1},
    ),
    Dimension(
        "queue",
        "how a message that is sent as usual gets its queue: in turn, or by the hash of a key",
        {"in turn": 8, "by hash": 1},
    ),
    Dimension("producers", "producers", {"1": 9, "2": 1}),
    Dimension("tags", "the tags of a sending: one, or several in turn", {"one": 3, "in turn": 4}),
    Dimension("settled", "whether the subscription settles before a sending", {"yes": 5, "no": 1}),
    Dimension(
        "operations",
        "things that are done to a running group, or to servers",
        {"0": 2, "1": 4, "2": 3, "3": 1},
    ),
    Dimension("comes back", "whether who was killed or stopped is started again", {"yes": 3, "no": 1}),
)

DIMENSIONS: Mapping[str, Dimension] = {item.name: item for item in _ALL}
"""By name; a new one is registered here, and drawn in `harness.nightly.generator`."""
