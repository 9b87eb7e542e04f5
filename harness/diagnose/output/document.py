"""A report as one JSON document."""

from collections.abc import Iterable
from typing import Any

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import SCHEMA_VERSION
from rocketchaos.harness.diagnose.diagnosis import Report
from rocketchaos.harness.diagnose.finding import Check, Evidence
from rocketchaos.harness.diagnose.requests import request_text
from rocketchaos.harness.diagnose.words import clock

PAGE = "docs/diagnose.md"


def page_of(check: Check) -> str:
    """Where the check is explained."""
    return f"{PAGE}#{check.code.lower()}"


def check_document(check: Check) -> dict[str, Any]:
    """A check, as `--list` shows it."""
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
        "unreached": report.unreached or None,
        "findings": [
            {
                "code": finding.check.code,
                "level": str(finding.level),
                "group": finding.group or None,
                "topic": finding.topic or None,
                "title": finding.check.title,
                "sentence": finding.sentence,
                "effect": finding.effect,
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
                        "certain": lost.certain,
                    }
                    for lost in finding.messages
                ],
                "change": list(finding.check.change),
                "claims": list(finding.check.claims),
                "page": page_of(finding.check),
                "evidence": _evidence(finding.evidence),
            }
            for finding in report.findings
        ],
        "undetermined": [
            {
                "code": item.check.code,
                "group": item.group or None,
                "topic": item.topic or None,
                "title": item.check.title,
                "reason": item.reason,
                "evidence": _evidence(item.evidence),
            }
            for item in report.undetermined
        ],
        "ruled_out": [
            {"code": item.check.code, "group": item.group or None, "known": item.check.known}
            for item in report.ruled_out
        ],
    }


def _evidence(evidence: Iterable[Evidence]) -> list[dict[str, Any]]:
    return [
        {
            "request": request_text(item.exchange.code),
            "fields": dict(item.exchange.fields),
            "address": item.exchange.address,
            "at": clock(item.exchange.at_ms),
            "answer_code": item.exchange.answer_code,
            "says": item.says,
        }
        for item in evidence
    ]
