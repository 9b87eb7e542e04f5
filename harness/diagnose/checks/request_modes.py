"""Groups whose brokers or members disagree about pulling and popping (5.x).

A broker has a mode for each topic and group (SET_MESSAGE_REQUEST_MODE). Members of setClientRebalance(false) ask
any broker of the topic for their queues, and pull or pop by its answer (QueryAssignmentProcessor; 5.0 to 5.5.0).
"""

from collections.abc import Iterator

from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import joined


def by_broker(view: GroupView) -> Iterator[Result]:
    """Topics for which brokers have different modes."""
    asking = sorted(item.client_id for item in view.answered if item.asks_brokers)
    for topic in view.topics:
        modes = {name: mode for name, mode in view.request_modes(topic).items() if mode}
        if len(set(modes.values())) > 1:
            modes_text = "; ".join(
                f"{joined([name for name, mode in modes.items() if mode == known])} "
                f"{'has' if list(modes.values()).count(known) == 1 else 'have'} the mode {known}"
                for known in sorted(set(modes.values()))
            )
            yield Found(
                modes_text + (f"; {joined(asking)} go by it" if asking else ""),
                tuple(Evidence(view.now.modes[name], f"{name}: {mode}") for name, mode in modes.items()),
                topic,
                level=None if asking else Level.INFO,
                effect=""
                if asking
                else "None for members that divide the queues themselves, which is the default: only those of "
                "setClientRebalance(false) go by it.",
            )
    for name, answer in sorted(view.now.modes.items()):
        if asking and not answer.succeeded:
            yield Unknown(
                f"{name} didn't report its mode: {answer.why_not}", (Evidence(answer, answer.why_not),)
            )


def by_member(view: GroupView) -> Iterator[Result]:
    """Topics of which some members pop and others pull."""
    if view.broadcasting or view.by_grpc:
        return  # RC0211 tells of gRPC members
    for topic in view.topics:
        ways: dict[bool, list[str]] = {}
        for member in view.answered:
            for popped in {held.popped for held in member.queues.get(topic, {}).values() if not held.dropped}:
                ways.setdefault(popped, []).append(member.client_id)
        if len(ways) > 1:
            yield Found(
                f"{joined(sorted(ways[True]))} {'pops' if len(ways[True]) == 1 else 'pop'}, "
                f"{joined(sorted(ways[False]))} {'pulls' if len(ways[False]) == 1 else 'pull'}",
                tuple(
                    Evidence(view.members[client_id].exchange, f"{client_id} has it in {table}")
                    for popped, table in ((True, "mqPopTable"), (False, "mqTable"))
                    for client_id in sorted(ways[popped])
                ),
                topic,
                settled=False,
                key=str(sorted(ways.items())),
            )


CHECKS = (
    Check(
        "RC0213",
        "brokers hand messages to the group in different modes",
        Level.ERROR,
        "all brokers hand messages to the group in the same mode",
        "Members of setClientRebalance(false) ask one broker, now this one, now that one, and pull or pop by its "
        "answer. While some pull and others pop, messages come twice, and queues have no owner for a while.",
        (
            "Set the same mode on every broker of the topic: `mqadmin setConsumeMode`.",
            "Members follow with their next rebalance, within 20 s.",
        ),
        of_group=by_broker,
    ),
    Check(
        "RC0214",
        "some members pop, others pull",
        Level.ERROR,
        "all members pull, or all pop",
        "Members that pop take messages of all queues, also of those that other members own and pull: messages "
        "come twice, and a message that one side skips isn't left for the other.",
        (
            "Give all members one setClientRebalance: `false` goes by the brokers' mode, `true` pulls always.",
            "If both ways are needed, give each its own group.",
        ),
        by_members=True,
        of_group=by_member,
    ),
)
