"""All checks, in the order of their codes. A code never means anything else, also once its check has gone."""

from collections.abc import Mapping

from rocketchaos.harness.diagnose.checks import (
    cluster,
    configuration,
    delays,
    differences,
    member_clocks,
    members,
    message_types,
    misread,
    missing_topics,
    offsets,
    ordered_topics,
    outside,
    ownership,
    permissions,
    progress,
    proxies,
    registrations,
    request_modes,
    retried,
    retry_settings,
    revive,
    set_ahead,
    slave_offsets,
    slaves,
    subscriptions,
    transactions,
    unread_queues,
    unsubscribed,
    unwanted,
)
from rocketchaos.harness.diagnose.finding import Check

_THEMES = (
    subscriptions, misread, members, differences, proxies, ownership, configuration, permissions, unread_queues,
    offsets, outside, set_ahead, progress, retried, cluster, registrations, slaves, slave_offsets, ordered_topics,
    missing_topics, retry_settings, request_modes, member_clocks, message_types, delays, transactions, revive,
    unwanted, unsubscribed,
)  # fmt: skip

CHECKS: Mapping[str, Check] = {
    check.code: check
    for check in sorted((item for theme in _THEMES for item in theme.CHECKS), key=lambda item: item.code)
}
"""By code."""
