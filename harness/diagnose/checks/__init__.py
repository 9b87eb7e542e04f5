"""All checks, in the order of their codes. A code never means anything else, also once its check has gone."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rocketchaos.harness.diagnose.checks import members, ownership, subscriptions
from rocketchaos.harness.diagnose.finding import Check

CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        check.code: check
        for check in sorted(
            (check for theme in (subscriptions, members, ownership) for check in theme.CHECKS),
            key=lambda check: check.code,
        )
    }
)
"""By code."""
