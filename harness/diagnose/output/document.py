"""A report as one JSON document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import SCHEMA_VERSION
from rocketchaos.harness.diagnose.diagnosis import Report
from rocketchaos.harness.diagnose.finding import Check, Evidence
from rocketchaos.harness.diagnose.requests import told
from rocketchaos.harness.diagnose.words import clock

PAGE = "docs/diagnose.md"


def page_of(check: Check) -> str:
    """Where the check is explained."""
    return f"{PAGE}#{check.code.lower()}"


def check_document(check: Check) -> dict[str, Any]:
    """A check, as `--list` tells it."""
    return {
        "code": check.code,
        "level": str(check.level),
        "title": check.title,
        "effect": check.effect,
        "change": list(check.change),
        "claims": list(check.claims),
        "page": page_of(check),
    }


def document(report: Report, code: ExitCode) -> dict[str, Any]:
    """The whole report."""
    return {
        "schema_version": SCHEMA_VERSION,
        "exit_code": int(code),
        "name_servers": list(report.name_servers),
        "groups": list(report.groups),
        "offline": list(report.offline),
        "looks": [clock(look.at_ms) for look in report.looks],
        "seconds": round(report.seconds, 2),
        "findings": [
            {
                "code": one.check.code,
                "level": str(one.level),
                "group": one.group or None,
                "topic": one.topic or None,
                "title": one.check.title,
                "sentence": one.sentence,
                "effect": one.effect,
                "messages": [
                    {
                        "broker": lost.queue[0],
                        "queue": lost.queue[1],
                        "first_offset": lost.first,
                        "last_offset": lost.last,
                        "count": lost.count,
                        "tag": lost.tag,
                        "fate": str(lost.fate),
                        "passed": lost.passed,
                    }
                    for lost in one.messages
                ],
                "change": list(one.check.change),
                "claims": list(one.check.claims),
                "page": page_of(one.check),
                "evidence": _evidence(one.evidence),
            }
            for one in report.findings
        ],
        "undetermined": [
            {
                "code": one.check.code,
                "group": one.group or None,
                "topic": one.topic or None,
                "title": one.check.title,
                "reason": one.reason,
                "evidence": _evidence(one.evidence),
            }
            for one in report.undetermined
        ],
        "ruled_out": [
            {"code": one.check.code, "group": one.group or None, "known": one.check.ruled_out}
            for one in report.ruled_out
        ],
    }


def _evidence(evidence: Iterable[Evidence]) -> list[dict[str, Any]]:
    return [
        {
            "request": told(one.exchange.code),
            "fields": dict(one.exchange.fields),
            "address": one.exchange.address,
            "at": clock(one.exchange.at_ms),
            "answer_code": one.exchange.answer_code,
            "says": one.says,
        }
        for one in evidence
    ]
