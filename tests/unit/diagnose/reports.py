"""Diagnoses of recorded answers of real clusters, and of what a test makes of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rocketchaos.harness.diagnose.bundle import Recorded, read
from rocketchaos.harness.diagnose.diagnosis import Diagnosis, Report
from rocketchaos.harness.diagnose.exchange import Exchange

RECORDED = Path(__file__).parent / "recorded"


def diagnosed(name: str, *changes: tuple[int, Callable[[Any], Any]], looks: int = 1) -> Report:
    """The diagnosis of a recorded bundle whose answers to some codes were changed, over so many equal looks."""
    bundle = read(RECORDED / name)
    exchanges = bundle.exchanges
    for code, change in changes:
        exchanges = [_changed(one, change) if one.code == code else one for one in exchanges]
    first = [one for one in exchanges if one.look == 0]
    several = [
        replace(one, look=look, at_ms=one.at_ms + 2_000 * look) for look in range(looks) for one in first
    ]
    recorded = Recorded(several, looks)
    diagnosis = Diagnosis(recorded, bundle.scope, recorded=recorded)
    return asyncio.run(diagnosis.run())


def _changed(one: Exchange, change: Callable[[Any], Any]) -> Exchange:
    document = one.document
    changed = change(document)
    return replace(one, body=json.dumps(document if changed is None else changed))


def codes(report: Report) -> set[str]:
    """The codes of what was found."""
    return {one.check.code for one in report.findings}
