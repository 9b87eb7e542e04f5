"""Groups whose members come by different ways: from brokers, or from a proxy by gRPC or by remoting."""

from collections.abc import Iterator

from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result
from rocketchaos.harness.diagnose.view import BY_BROKERS, GroupView
from rocketchaos.harness.diagnose.words import joined

_NONE_AT_BROKERS = (
    "gRPC members pop from all queues, and remoting members pull from theirs. So a message there that both sides "
    "want comes to each, unless one side stores the group's offset behind it before the other one gets there."
)


def several_ways(view: GroupView) -> Iterator[Result]:
    """Members that share a group and don't share out its queues with each other."""
    if view.broadcasting:
        return
    ways: dict[str, list[str]] = {}
    for client_id in sorted(view.members):
        ways.setdefault(view.way(client_id), []).append(client_id)
    if len(ways) > 1:
        yield Found(
            "; ".join(
                f"{joined(ids)} {'uses' if len(ids) == 1 else 'use'} {way}"
                for way, ids in sorted(ways.items())
            ),
            tuple(
                Evidence(
                    stored.exchange,
                    f"{name} knows {joined(sorted({item.client_id for item in stored.connections}))}",
                )
                for name, stored in view.stored.items()
            ),
            settled=len(view.looks) > 1,
            effect="" if BY_BROKERS in ways else _NONE_AT_BROKERS,
            key=str(sorted(ways.items())),
        )


CHECKS = (
    Check(
        "RC0211",
        "members of one group connect in different ways",
        Level.ERROR,
        "all members connect in the same way",
        "A proxy and the brokers don't know each other's members, and gRPC members pop from all queues. So "
        "a message that both sides want comes to each, unless one side stores the group's offset behind it "
        "before the other one gets there.",
        (
            "Let all members of the group use the brokers, or a proxy by gRPC, or a proxy by remoting.",
            "If both sides must have all messages, give each side its own group.",
        ),
        ("H11",),
        of_group=several_ways,
    ),
)
