"""A shrunken scenario as a scenario of its own: it says what it shows, by checks, and how it came to be. Pure."""

from __future__ import annotations

from harness.nightly.checks import open_checks
from harness.nightly.document import Document
from harness.nightly.findings import NightlyFinding

_KEPT = ("marks", "timing", "cluster", "topics", "consumers", "steps")


def opened(document: Document) -> Document:
    """The document without what it states: a smaller one need not keep that, as long as the finding is there."""
    groups = dict.fromkeys(one["group"] for one in document["consumers"].values())
    brokers = document.get("cluster", {}).get("brokers", "broker-a")
    kept = {name: document[name] for name in ("name", "title", *_KEPT) if name in document}
    return {**kept, **open_checks(groups, brokers if isinstance(brokers, list) else [brokers])}


def restated(document: Document, finding: NightlyFinding, origin: str) -> Document:
    """The document with the finding as its `anomaly`, where checks can state it; else with the checks it had.

    Args:
        document: the smallest one that shows it.
        finding: as a run of that shows it.
        origin: where it comes from, in words.
    """
    cause = finding.breach.cause.rpartition(": ")[2]
    made: Document = {
        "name": f"{finding.kind}-{document['name'].removeprefix('nightly-')}"[:80].strip("-"),
        "title": f"{cause[0].upper()}{cause[1:]}",
        "description": f"{finding.breach.sentence}. {origin}.",
    }
    made |= {key: document[key] for key in _KEPT if key in document}
    made["anomaly"] = [dict(check) for check in finding.breach.anomaly] or document["anomaly"]
    made["healthy"] = [dict(check) for check in finding.breach.healthy] or document["healthy"]
    made["expected"] = "measured"
    return made


def with_expectation(document: Document, held: int, of: int) -> Document:
    """The same, with what its own checks said in so many runs: what doesn't show every time isn't expected."""
    told = f"{document['description']} Its checks held in {held} of {of} runs."
    return {**document, "description": told, "expected": "reproduced" if held == of else "measured"}
