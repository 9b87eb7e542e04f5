"""Brokers that should be registered, and aren't."""

from collections.abc import Iterator

from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result
from rocketchaos.harness.diagnose.view import ClusterView
from rocketchaos.harness.diagnose.words import joined, queues_text
from rocketchaos.harness.rocketmq.allocation import LOGICAL


def gone(view: ClusterView) -> Iterator[Result]:
    """Brokers that no name server knows now, though members have their queues or an earlier look saw them."""
    known = set(view.now.brokers)
    if not all(item.exchange.succeeded for item in view.now.registered.values()):
        return  # the one that doesn't answer may know it
    holders: dict[str, list[Evidence]] = {}
    before = {name: look for look in view.looks for name in look.brokers if name not in known}
    for name, look in before.items():
        holders[name] = [
            Evidence(item.exchange, f"{address} knew {name}")
            for address, item in look.registered.items()
            if name in item.brokers
        ]
    # Another look may be at other groups: what counts is that name servers still don't know it.
    last = {group: members for look in view.looks for group, members in look.members.items()}
    for members in last.values():
        for member in members.values():
            queues = {
                queue
                for held_queues in member.queues.values()
                for queue, held in held_queues.items()
                if not held.dropped and not queue[0].startswith(LOGICAL)
            }
            for name in sorted({queue[0] for queue in queues} - known):
                own = sorted({queue for queue in queues if queue[0] == name and queue[1] >= 0})
                text = f"{member.client_id} has {queues_text(own) or f'queues of {name}'}"
                holders.setdefault(name, []).append(Evidence(member.exchange, text))
    for name, evidence in sorted(holders.items()):
        yield Found(
            f"no name server knows {name} now: " + joined([item.says for item in evidence]),
            (*(Evidence(item.exchange, "registered") for item in view.now.registered.values()), *evidence),
            settled=len(view.looks) > 1,
            key=name,
        )


def without_master(view: ClusterView) -> Iterator[Result]:
    """Brokers whose slave is registered and whose master is not."""
    for name, broker in view.now.brokers.items():
        if 0 not in broker.addresses:
            slaves = joined(
                [f"{number} at {address}" for number, address in sorted(broker.addresses.items())]
            )
            yield Found(
                f"{name} has no master: only broker id {slaves} is registered",
                tuple(
                    Evidence(item.exchange, str(dict(item.brokers.get(name, {}))))
                    for item in view.now.registered.values()
                ),
                # A master that restarts is back within a few seconds, or half a minute.
                settled=False,
                key=name,
            )


CHECKS = (
    Check(
        "RC0807",
        "a broker is no longer registered",
        Level.WARNING,
        "every known broker is registered",
        "Messages that are stored there wait until the broker is back. Members drop its queues when they next "
        "fetch the route, after at most 30 s. From then on, only that broker's messages are missing.",
        ("Start the broker again.", "If it runs, check that it reaches the name servers of its namesrvAddr."),
        caveat="a broker that left earlier, and of which no member has a queue now, looks like none",
        of_cluster=gone,
    ),
    Check(
        "RC0808",
        "a broker has no master",
        Level.ERROR,
        "every broker has a master",
        "Producers can't send there. Consumers continue to read from the slave, but the offsets that they store "
        "meanwhile are lost, and retries go to another broker or fail.",
        ("Start the master again.",),
        of_cluster=without_master,
    ),
)
