"""A shrunken scenario as a scenario of its own: it says what it shows, by checks, and how it came to be. Pure."""

from rocketchaos.harness.nightly.checks import open_checks
from rocketchaos.harness.nightly.codes import CODES
from rocketchaos.harness.nightly.document import MARK, WHAT_RUNS, Document
from rocketchaos.harness.nightly.findings import NightlyFinding
from rocketchaos.harness.nightly.reduced import listed

_KEPT = ("marks", *WHAT_RUNS)
_NAME_AT_MOST = 80
NOT_MEASURED = (
    "How often its checks hold was not measured, because the search ended before: "
    "run it before you rely on it."
)
NOT_ALL_TRIED = "The search ended before everything smaller was tried."


def opened(document: Document) -> Document:
    """The document without what it states: a smaller one need not keep that, as long as the finding is there."""
    kept: Document = {name: document[name] for name in ("name", "title", *_KEPT) if name in document}
    kept.setdefault("consumers", {})
    of_members = [item["group"] for item in kept["consumers"].values()]
    groups = dict.fromkeys([*of_members, *listed(kept.get("groups"))])
    brokers = listed(kept.get("cluster", {}).get("brokers")) or ["broker-a"]
    return {**kept, **open_checks(groups, brokers)}


def restated(document: Document, finding: NightlyFinding, origin: str) -> Document:
    """The document with the finding as its `anomaly`, where checks can state it; else with the checks it had.

    Args:
        document: the smallest one that shows it.
        finding: as a run of that shows it.
        origin: where it comes from, in words.
    """
    made: Document = {
        "name": name_of(document, finding),
        "title": _title(finding),
        "description": f"{finding.breach.sentence}. {origin}.",
    }
    made |= {key: document[key] for key in _KEPT if key in document}
    made["anomaly"] = [dict(check) for check in finding.breach.anomaly] or document["anomaly"]
    made["healthy"] = [dict(check) for check in finding.breach.healthy] or document["healthy"]
    made["expected"] = "measured"
    return made


def _title(finding: NightlyFinding) -> str:
    title = CODES[finding.code].title
    return f"{title[0].upper()}{title[1:]}"


def name_of(document: Document, finding: NightlyFinding) -> str:
    """The name of the restated scenario: another one for each code of the same run."""
    origin = document["name"].removeprefix(f"{MARK}-").removeprefix(f"{finding.code}-")
    return f"{finding.code}-{origin}"[:_NAME_AT_MOST].rstrip("-")


def with_expectation(document: Document, held: int, of: int, *, whole: bool) -> Document:
    """The same, and in how many runs its checks held: a result that doesn't show every time isn't expected.

    Args:
        document: made by `restated`.
        held: in how many runs its own checks held.
        of: of how many; 0: it has not been run with its own checks.
        whole: whether everything smaller has been tried.
    """
    said = [document["description"], f"Its checks held in {held} of {of} runs." if of else NOT_MEASURED]
    if not whole:
        said.append(NOT_ALL_TRIED)
    expected = "reproduced" if of and held == of else "measured"
    return {**document, "description": " ".join(said), "expected": expected}
