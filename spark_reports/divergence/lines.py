"""The report in a few lines."""

from collections.abc import Sequence

from rocketchaos.harness.core.text import counted
from rocketchaos.spark_reports.divergence.as_expected import Expectation, Held, missed_sentence
from rocketchaos.spark_reports.divergence.compare import Judged, Verdict
from rocketchaos.spark_reports.divergence.findings import findings, sentence
from rocketchaos.spark_reports.divergence.read import Facts
from rocketchaos.spark_reports.divergence.witnesses import Contradiction, contradiction_sentences, not_asked
from rocketchaos.spark_reports.report import StoreSummary

_FINDINGS, _OPEN, _MISSED, _CONTRADICTIONS = 4, 2, 2, 2
"""At most this many lines of each kind; with the lines on what was left out they are a dozen."""


def headline(judged: Sequence[Judged], held: Sequence[Held], facts: Facts) -> str:
    """The most important result."""
    if not facts.endings:
        return "The store has no runs: ingest some with `rocketchaos report ingest RUNS… --store URI`."
    compared = {item.compared.pair for item in judged}
    if not compared:
        return (
            "No two cells differ in exactly one thing, so there is nothing to compare: run scenarios with "
            "`--matrix clients=… rocketmq=…`."
        )
    diverging = {item.compared.pair for item in judged if item.verdict is Verdict.DIVERGES}
    of = f"{len(diverging):,} of {counted(len(compared), 'pair')} of cells"
    missed = [item for item in held if item.expectation is Expectation.MISSED]
    besides = f"; {counted(len(missed), 'cell')} not as expected" if missed else ""
    if diverging:
        worst = next(item for item in judged if item.verdict is Verdict.DIVERGES).compared.pair
        return (
            f"{of} diverge, most {worst.first.scenario} between {worst.values[0]} and {worst.values[1]}: "
            f"compare their typical runs{besides}."
        )
    exact = {item.compared.pair for item in judged if item.verdict is Verdict.EXACT}
    few = {item.compared.pair for item in judged if item.verdict is Verdict.TOO_FEW and item.differs} - exact
    if exact or few:
        settling = max(item.settling_runs or 0 for item in judged)
        kinds = [f"{len(exact):,} {'differs' if len(exact) == 1 else 'differ'} exactly in these runs"] * bool(
            exact
        )
        others = " in other ways" if exact else ""
        kinds += [f"{len(few):,} {'differs' if len(few) == 1 else 'differ'}{others}"] * bool(few)
        return (
            f"None of {counted(len(compared), 'pair')} of cells is shown to diverge, but {' and '.join(kinds)}, "
            f"with too few runs for a claim about all runs: repeat them (`--repeat {settling}`){besides}."
        )
    return f"None of {counted(len(compared), 'pair')} of cells is shown to diverge{besides}."


def lines(
    judged: Sequence[Judged],
    held: Sequence[Held],
    said: Sequence[Contradiction],
    facts: Facts,
    summary: StoreSummary,
) -> list[str]:
    """Up to a dozen sentences, the worst first; one of them always says what was left out."""
    diverging, exact, few = (
        findings(judged, verdict) for verdict in (Verdict.DIVERGES, Verdict.EXACT, Verdict.TOO_FEW)
    )
    missed = [item for item in held if item.expectation is Expectation.MISSED]
    contradictions = contradiction_sentences(said)
    sentences = [
        *(sentence(item, facts) for item in diverging[:_FINDINGS]),
        *(sentence(item, facts) for item in exact[:_OPEN]),
        *(f"Too few runs to tell: {sentence(item, facts)}" for item in few[: _OPEN - len(exact[:_OPEN])]),
        *(missed_sentence(item) for item in missed[:_MISSED]),
        *contradictions[:_CONTRADICTIONS],
    ]
    tails = [
        _more(len(diverging) - _FINDINGS, "divergence"),
        _more(len(exact) + len(few) - _OPEN, "difference with too few runs", "differences with too few runs"),
        _more(len(missed) - _MISSED, "cell not as expected", "cells not as expected"),
        _more(
            len(contradictions) - _CONTRADICTIONS, "contradiction of witnesses", "contradictions of witnesses"
        ),
    ]
    if any(tails):
        sentences.append(f"The tables also have {', '.join(tail for tail in tails if tail)}.")
    return [*sentences, _left_out(facts, summary)]


def _more(number: int, text: str, many: str | None = None) -> str:
    return f"{number:,} more {text if number == 1 else many or text + 's'}" if number > 0 else ""


def _left_out(facts: Facts, summary: StoreSummary) -> str:
    """The runs that the figures leave out."""
    left_out = sum(facts.left_out(cell) for cell in facts.endings)
    unmet = sum(facts.incomplete(cell) for cell in facts.endings) - left_out
    broker, dashboard, runs = not_asked(facts)
    return (
        f"Not compared: {counted(left_out, 'run')} that ended in an error or {'was' if left_out == 1 else 'were'} "
        f"interrupted, and {counted(summary.quarantined, 'folder')} in quarantine. Compared only by outcome: "
        f"{counted(unmet, 'run')} in which a precondition did not hold. Of {counted(runs, 'run')} compared by "
        f"messages, {broker:,} did not ask the broker's tools, and {dashboard:,} did not ask the dashboard."
    )
