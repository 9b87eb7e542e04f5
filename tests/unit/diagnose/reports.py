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
        exchanges = [
            _changed(exchange, change) if exchange.code == code else exchange for exchange in exchanges
        ]
    first = [exchange for exchange in exchanges if exchange.look == 0]
    several = [
        replace(exchange, look=look, at_ms=exchange.at_ms + 2_000 * look)
        for look in range(looks)
        for exchange in first
    ]
    recorded = Recorded(several, looks)
    diagnosis = Diagnosis(recorded, bundle.scope, recorded=recorded)
    return asyncio.run(diagnosis.run())


def _changed(exchange: Exchange, change: Callable[[Any], Any]) -> Exchange:
    document = exchange.document
    changed = change(document)
    return replace(exchange, body=json.dumps(document if changed is None else changed))


def codes(report: Report) -> set[str]:
    """The codes of what was found."""
    return {finding.check.code for finding in report.findings}
