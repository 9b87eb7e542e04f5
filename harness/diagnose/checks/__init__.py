"""All checks, in the order of their codes. A code never means anything else, also once its check has gone."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rocketchaos.harness.diagnose.checks import (
    cluster,
    configuration,
    members,
    offsets,
    ownership,
    progress,
    proxies,
    registrations,
    subscriptions,
)
from rocketchaos.harness.diagnose.finding import Check

_THEMES = (subscriptions, members, proxies, ownership, configuration, offsets, progress, cluster, registrations)

CHECKS: Mapping[str, Check] = MappingProxyType(
    {check.code: check for theme in _THEMES for check in sorted(theme.CHECKS, key=lambda item: item.code)}
)
"""By code."""
