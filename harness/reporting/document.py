"""`--json`: one document about all runs, on standard output."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from rocketchaos.harness.core.model import SCHEMA_VERSION, Finding, Holds, MessageClass, OutcomeKind
from rocketchaos.harness.plan.matrix import LeftOut, code_with
from rocketchaos.harness.reporting.base import Report, outcome_counts
from rocketchaos.harness.reporting.parts.cells import CellRuns, cells
from rocketchaos.harness.reporting.parts.earlier_run import Again, exit_code_of
from rocketchaos.harness.reporting.parts.shares import Repeats, Share, attempts, cell_of, repeats


@dataclass(frozen=True, slots=True)
class DocumentReporter:
    """Tells programs. Every key is always there; unknown values are null.

    The document is ASCII, so that it arrives whatever the encoding of the stream is.
    """

    stream: TextIO
    left_out: Sequence[LeftOut] = ()
    """What was asked for and not run."""
    again: Sequence[Again] = ()
    """Findings looked for."""
    matrix: bool = False
    """Whether one was asked for."""

    def report(self, runs: Sequence[Report]) -> None:
        """Write the document, and a line's end."""
        written = document(runs, self.left_out, self.again, matrix=self.matrix)
        json.dump(written, self.stream, indent=2)
        self.stream.write("\n")


def document(
    runs: Sequence[Report],
    left_out: Sequence[LeftOut] = (),
    again: Sequence[Again] = (),
    *,
    matrix: bool = False,
) -> dict[str, Any]:
    """The document as Python's own types; its arguments are those of `DocumentReporter`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "runs": [_run(run) for run in runs],
        "summary": {**_summary(runs), "exit_code": int(code_with(left_out, exit_code_of(runs, again)))},
        "findings": [item.as_json() for item in again],
        "left_out": [item.reason for item in left_out],
        "matrix": [*map(_cell, cells(runs)), *map(_left_out, left_out)] if matrix else None,
    }


def _cell(cell: CellRuns) -> dict[str, Any]:
    outcomes = [run.outcome for run in cell.runs]
    return {
        "scenario": cell.scenario,
        "client": cell.client or None,
        "rocketmq": cell.rocketmq or None,
        "runs": len(cell.runs),
        "expected": next(
            (outcome.expected.value for outcome in outcomes if outcome.expected is not None), None
        ),
        "as_expected": sum(1 for outcome in outcomes if outcome.as_expected),
        "measured": sum(1 for outcome in outcomes if outcome.measured),
        "outcomes": [{"outcome": kind.value, **_share(outcome)} for kind, outcome in cell.outcomes().items()],
        "delivered": {
            member: [{"messages": count, **_share(item)} for count, item in counts.items()]
            for member, counts in cell.delivered_to().items()
        },
        "deliveries": [
            {"delivered": dict(counts), **_share(delivery)} for counts, delivery in cell.deliveries().items()
        ],
        "became": [{"messages": text, **_share(fate)} for text, fate in cell.fates().items()],
        "subscription": [
            {"stored": text, **_share(subscription)} for text, subscription in cell.subscriptions().items()
        ],
        "seconds": round(cell.seconds, 3),
        "left_out": None,
    }


def _left_out(left_out: LeftOut) -> dict[str, Any]:
    """A cell in which nothing could run: it has the same keys."""
    return {
        "scenario": left_out.scenario,
        "client": left_out.client,
        "rocketmq": left_out.rocketmq,
        "runs": 0,
        "expected": None,
        "as_expected": 0,
        "measured": 0,
        "outcomes": [],
        "delivered": {},
        "deliveries": [],
        "became": [],
        "subscription": [],
        "seconds": None,
        "left_out": left_out.reason,
    }


def _run(run: Report) -> dict[str, Any]:
    outcome, record = run.outcome, run.record
    classes = [fate.message_class for fate in outcome.messages]
    holders = run.holders()
    client, rocketmq = cell_of(run)
    return {
        "scenario": run.scenario.name,
        "title": run.scenario.title,
        "outcome": outcome.kind.value,
        "expected": outcome.expected.value if outcome.expected else None,
        "as_expected": outcome.as_expected,
        "reason": outcome.reason,
        "trouble": outcome.trouble.value if outcome.trouble else None,
        "checks": [_check(finding) for finding in outcome.findings],
        "messages": {item.value: classes.count(item) for item in MessageClass},
        "holder": holders[-1] if holders else None,
        "run_dir": str(run.folder),
        "seconds": run.seconds,
        "rocketmq": record.get("rocketmq"),
        "client": record.get("client"),
        "cell": {"client": client or None, "rocketmq": rocketmq or None},
        "timing": record.get("timing") or run.scenario.timing,
        "seed": record.get("seed"),
        "attempts": attempts(run),
        "reproduce": run.reproduce_command,
    }


def _check(finding: Finding) -> dict[str, Any]:
    return {
        "section": finding.section,
        "id": finding.id,
        "name": finding.name,
        "passed": {Holds.YES: True, Holds.NO: False}.get(finding.holds),
        "expected": finding.expected,
        "observed": finding.observed,
        "claim": finding.claim,
        "refutes": finding.refutes,
        "events": list(finding.events),
    }


def _summary(runs: Sequence[Report]) -> dict[str, Any]:
    counts = outcome_counts(runs)
    return {
        "runs": len(runs),
        "as_expected": sum(1 for run in runs if run.outcome.as_expected),
        "measured": sum(1 for run in runs if run.outcome.measured),
        "outcomes": {kind.value: counts[kind] for kind in OutcomeKind},
        "seconds": round(sum(run.seconds for run in runs), 3),
        "attempts": sum(attempts(run) for run in runs),
        "repeats": [_repeats(group) for group in repeats(runs)],
    }


def _repeats(group: Repeats) -> dict[str, Any]:
    rocketmq, client, timing = group.conditions
    return {
        "scenario": group.scenario,
        "rocketmq": rocketmq or None,
        "client": client or None,
        "timing": timing,
        "runs": len(group.runs),
        "attempts": group.attempts,
        "outcomes": [{"outcome": kind.value, **_share(share)} for kind, share in group.outcomes().items()],
        "holders": [
            {"holder": holder.name, "started": holder.started or None, **_share(share)}
            for holder, share in group.holders().items()
        ],
        "values": [
            {"of": name, "value": value, **_share(share)}
            for name, values in group.values().items()
            for value, share in values.items()
        ],
    }


def _share(share: Share) -> dict[str, Any]:
    return {
        "count": share.count,
        "total": share.total,
        "share": round(share.share, 6),
        "interval_95": [round(share.low, 6), round(share.high, 6)],
    }
