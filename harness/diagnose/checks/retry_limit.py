"""Groups whose failed messages become dead letters without a retry."""

from collections.abc import Iterator

from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import joined


def no_retries(view: GroupView) -> Iterator[Result]:
    """Members, or a group, with a limit of 0 retries; members that broadcast never retry."""
    if view.broadcasting:
        return
    members = [item for item in view.answered if item.properties.get("maxReconsumeTimes") == "0"]
    if members:
        yield Found(
            f"maxReconsumeTimes is 0 in {joined([item.client_id for item in members])}",
            tuple(Evidence(item.exchange, "maxReconsumeTimes 0") for item in members),
        )
    brokers = [
        name
        for name, groups in sorted(view.now.groups.items())
        if groups.get(view.group, {}).get("retryMaxTimes") == 0
    ]
    if brokers:
        by_grpc = bool(view.by_grpc)
        yield Found(
            f"retryMaxTimes of the group is 0 on {joined(brokers)}",
            tuple(Evidence(view.now.group_configs[name], f"{name}: retryMaxTimes 0") for name in brokers),
            level=None if by_grpc else Level.INFO,
            effect=""
            if by_grpc
            else "None for clients that send a limit of their own with each retry, as Java's do "
            "(maxReconsumeTimes, default 16). For others a failed message becomes a dead letter at once.",
        )


CHECKS = (
    Check(
        "RC0703",
        "failed messages are not retried",
        Level.WARNING,
        "failed messages are retried",
        "A message whose listener fails once becomes a dead letter at once. No consumer gets it again.",
        (
            "Raise maxReconsumeTimes on all members, or leave it at its default.",
            "For gRPC clients raise the group's retryMaxTimes: `mqadmin updateSubGroup -r`.",
        ),
        ("G08",),
        by_members=True,
        of_group=no_retries,
    ),
)
