"""The report in a few sentences, for a chat: the worst first."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rocketchaos.harness.core.text import counted
from rocketchaos.spark_reports.flakiness.assess import LEVEL, Assessed
from rocketchaos.spark_reports.flakiness.cells import ALIKE_RUNS, Names, Verdict, more_runs
from rocketchaos.spark_reports.flakiness.conditions import Condition
from rocketchaos.spark_reports.flakiness.read import Signature
from rocketchaos.spark_reports.flakiness.versions import VersionChange
from rocketchaos.spark_reports.flakiness.words import day, part, rate, short
from rocketchaos.spark_reports.number_text import chance
from rocketchaos.spark_reports.report import StoreSummary
from rocketchaos.spark_reports.run_names import named_run

MOST_CELLS = 5
_DOUBTFUL = (Verdict.FAIL, Verdict.FLAKY, Verdict.LIKELY_FAIL)
MOST_LINES = 12


def headline(cells: Sequence[Assessed], names: Names, found: Sequence[Condition], store: StoreSummary) -> str:
    """One sentence: how many cells are bad, the worst of them, and where to look."""
    if not cells:
        return (
            "The store has no runs, so there is no flakiness to report: load some with `report ingest`."
            + (f" {counted(store.quarantined, 'folder')} could not be read." if store.quarantined else "")
        )
    cells = [cell for cell in cells if not cell.drawn] or cells
    counts = Counter(cell.now for cell in cells)
    bad = [f"{counts[item]} {item.value}" for item in _DOUBTFUL if counts[item]]
    total = counted(len(cells), "cell")
    if bad:
        return f"{', '.join(bad)} of {total}; worst: {about(cells[0], names, found)}"
    judged = [cell for cell in cells if cell.counts.judged]
    if not judged:
        measured = sum(cell.now is Verdict.MEASURED for cell in cells)
        return (
            f"None of {total} could be judged: {measured} are only measured; in the others no run with an "
            "expectation ended by the product's behaviour."
        )
    good = f"None of {total} is FLAKY or FAIL: {counts[Verdict.PASS]} PASS"
    if counts[Verdict.LIKELY_PASS]:
        good += f", {counts[Verdict.LIKELY_PASS]} with too few runs to be sure ({ALIKE_RUNS} of a cell are enough)"
    return good + "."


def about(cell: Assessed, names: Names, found: Sequence[Condition]) -> str:
    """One cell in a sentence: how bad, since when, under which conditions, its first cause, and an example."""
    counts = cell.counts
    says = [f"{names.label(cell.key)} {part(counts.as_expected, counts.judged)}"]
    if counts.owner:
        says.append(f"owner {counts.owner}")
    if cell.now is not cell.verdict:
        says.append(f"{cell.now.value} now ({part(*cell.recent)})")
    last = cell.last_change
    if last:
        since = day(cell.blocks[last.at].first_started)
        says.append(
            f"since {since} (change point from {rate(*last.before)} to {rate(*last.after)}, {chance(last.p)})"
        )
    elif cell.trend.p <= LEVEL:
        says.append(
            f"{'rising' if cell.trend.direction > 0 else 'falling'} with time ({chance(cell.trend.p)})"
        )
    needed = more_runs(*cell.recent)
    if needed and counts.judged:
        says.append(f"{counted(needed, 'more run')} with the same end would make it certain")
    says += [
        goes_with(condition)
        for condition in found
        if condition.sure and condition.scenario == cell.key.scenario
    ][:1]
    cause = next((item for item in cell.causes if item.missed_runs), None)
    if cause:
        says.append(f"first cause: {short(cause.text)} in {counted(cause.missed_runs, 'run')}")
    example = (
        cause.source if cause else next((b.first_miss for b in reversed(cell.blocks) if b.first_miss), None)
    )
    if example and counts.as_expected < counts.judged:
        says.append(f"see {named_run(example)}")
    return "; ".join(says)


def goes_with(condition: Condition) -> str:
    """`goes with more load_start (AUC 0.90 [0.71, 0.97], p=0.002)`."""
    effect = condition.effect
    more, auc, low, high = ("more", effect.auc, effect.low, effect.high)
    if effect.auc < 0.5:
        more, auc, low, high = ("less", 1 - effect.auc, 1 - effect.high, 1 - effect.low)
    return f"goes with {more} {condition.name} (AUC {auc:.2f} [{low:.2f}, {high:.2f}], {chance(condition.p)})"


def lines(
    cells: Sequence[Assessed],
    names: Names,
    found: Sequence[Condition],
    changes: Sequence[VersionChange],
    signatures: Sequence[Signature],
    store: StoreSummary,
) -> list[str]:
    """Up to a dozen sentences after the headline; some say what the store lacks, or what is uncertain."""
    bad = [cell for cell in cells if cell.now in _DOUBTFUL]
    # The headline has the first.
    says = [f"{cell.now.value}: {about(cell, names, found)}" for cell in bad[1:MOST_CELLS]]
    if len(bad) > MOST_CELLS:
        says.append(f"{len(bad) - MOST_CELLS} more are in the table `cells`.")
    says += [_version(change) for change in changes if change.p <= LEVEL][:2]
    says += _improved(cells, names)
    says += _measured(cells, names)
    costs = _costs(cells, signatures)
    sentences = (_undecided(cells), _drawn(cells), costs, _unplaced(cells), _quarantined(store))
    closing = [line for line in sentences if line]
    return [*says[: MOST_LINES - len(closing)], *closing]


def _version(change: VersionChange) -> str:
    before, after = change.before, change.after
    beside = ", in parallel with the older version" if change.side_by_side else ""
    return (
        f"{change.change}{beside}: the share of runs as expected of {change.experiment} fell from "
        f"{rate(before.hits, before.runs)} to {rate(after.hits, after.runs)} ({chance(change.p)}); first bad run "
        f"{day(after.miss_started)}, see {named_run(after.miss_source)}"
    )


def _improved(cells: Sequence[Assessed], names: Names) -> list[str]:
    better = [
        cell
        for cell in cells
        if cell.verdict is Verdict.FLAKY and cell.now in (Verdict.PASS, Verdict.LIKELY_PASS)
    ]
    return [f"{cell.now.value}, was FLAKY: {about(cell, names, ())}" for cell in better[:1]]


def _measured(cells: Sequence[Assessed], names: Names) -> list[str]:
    changed = [(cell, cell.last_change) for cell in cells if cell.now is Verdict.MEASURED]
    return [
        f"measured, and changed: {names.label(cell.key)} reproduced {rate(*last.before)} before "
        f"{day(cell.blocks[last.at].first_started)}, {rate(*last.after)} since ({chance(last.p)})"
        for cell, last in changed
        if last is not None
    ][:1]


def _undecided(cells: Sequence[Assessed]) -> str:
    few = [cell for cell in cells if cell.now in (Verdict.LIKELY_PASS, Verdict.LIKELY_FAIL)]
    none = sum(cell.now is Verdict.UNKNOWN and not cell.drawn for cell in cells)
    says = []
    if few:
        most = max(more_runs(*cell.recent) for cell in few)
        says.append(
            f"{counted(len(few), 'cell has', 'cells have')} too few runs to be sure: up to {most} more of "
            "each, with the same end, are enough"
        )
    if none:
        says.append(
            f"{counted(none, 'cell')} can't be judged: no run with an expectation ended by the product's "
            "behaviour"
        )
    return "; ".join(says)


def _drawn(cells: Sequence[Assessed]) -> str:
    drawn = [cell for cell in cells if cell.drawn]
    if not drawn:
        return ""
    reproduced = sum(cell.counts.reproduced > 0 for cell in drawn)
    return (
        f"{counted(len(drawn), 'cell')} of scenarios that `rocketchaos nightly` drew, only measured: "
        f"{reproduced:,} reproduced; they are at the end of the table `cells`, and not in the map"
    )


def _costs(cells: Sequence[Assessed], signatures: Sequence[Signature]) -> str:
    kinds: Mapping[str, int] = {
        "by the environment": sum(cell.counts.environment_errors for cell in cells),
        "by the harness": sum(cell.counts.harness_errors for cell in cells),
        "by hand or wrong usage": sum(cell.counts.broken_off for cell in cells),
    }
    lost = sum(kinds.values())
    if not lost:
        return ""
    total = sum(cell.counts.runs for cell in cells)
    shares = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)
    first = max(
        signatures, key=lambda signature: (signature.kind == "trouble", signature.lost_runs), default=None
    )
    known = first is not None and first.lost_runs > 0
    cause = (
        f"; most often: {short(first.text, 100)} ({counted(first.lost_runs, 'run')})"
        if first and known
        else ""
    )
    return f"{lost:,} of {counted(total, 'run')} lost, never counted as flaky: {shares}{cause}"


def _unplaced(cells: Sequence[Assessed]) -> str:
    count = sum(cell.counts.unplaced for cell in cells)
    if not count:
        return ""
    return (
        f"The order in time of {counted(count, 'run')} is uncertain, because the clock jumped or was wrong: "
        f"{'it counts' if count == 1 else 'they count'}, but not for changes and trends"
    )


def _quarantined(store: StoreSummary) -> str:
    if not store.quarantined:
        return ""
    reasons = ", ".join(f"{count} {kind}" for kind, count in store.quarantine_reasons.items())
    return f"{counted(store.quarantined, 'run folder')} in quarantine, not counted here: {reasons}"
