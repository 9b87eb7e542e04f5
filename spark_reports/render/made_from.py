"""The source of a report, in words. Every report has it, so that nothing is missing silently."""

from dataclasses import dataclass

from rocketchaos.harness.core.text import counted, one_line
from rocketchaos.spark_reports.render.values import UNKNOWN, moment
from rocketchaos.spark_reports.report import StoreSummary


@dataclass(frozen=True, slots=True)
class Fact:
    """One number, with its name."""

    name: str
    value: str
    tone: str | None = None
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Warned:
    """Something that is missing or uncertain, and why."""

    text: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoreWords:
    """Facts and warnings of a store."""

    facts: tuple[Fact, ...]
    warnings: tuple[Warned, ...]


def store_words(store: StoreSummary) -> StoreWords:
    """The summary in words."""
    facts = (
        Fact("runs", f"{store.runs:,}", None if store.runs else "unsure"),
        Fact("messages", f"{store.messages:,}"),
        Fact("scenarios", f"{store.scenarios:,}"),
        Fact("hosts", f"{store.hosts:,}"),
        Fact("time span, UTC", time_span(store), wide=True),
        Fact("quarantined", f"{store.quarantined:,}", "unsure" if store.quarantined else None),
        Fact("clock jumps", f"{store.clock_jumps:,}", "unsure" if store.clock_jumps else None),
    )
    kept = () if store.kept_since is None else (Fact("kept since", moment(store.kept_since)),)
    return StoreWords((*facts, *kept), tuple(_warnings(store)))


def time_span(store: StoreSummary) -> str:
    """From the first to the last run."""
    if store.first is None or store.last is None:
        return UNKNOWN
    first, last = moment(store.first), moment(store.last)
    return first if first == last else f"{first} to {last}"


def store_line(store: StoreSummary) -> str:
    """The summary in one or two lines, for a terminal or a chat."""
    made_from = (
        f"{counted(store.runs, 'run')}, {counted(store.messages, 'message')}, "
        f"{counted(store.scenarios, 'scenario')}, {counted(store.hosts, 'host')}, {time_span(store)}"
    )
    kinds = "; ".join(reasons(store))
    quarantined = f"{store.quarantined:,} quarantined" + (f" ({kinds})" if kinds else "")
    return f"{made_from}; {quarantined}; {counted(store.clock_jumps, 'run')} with a clock jump"


def reasons(store: StoreSummary) -> list[str]:
    """The reasons of folders in quarantine, the most frequent first."""
    ordered = sorted(store.quarantine_reasons.items(), key=lambda item: (-item[1], item[0]))
    return [f"{one_line(kind)}: {count:,}" for kind, count in ordered]


def _warnings(store: StoreSummary) -> list[Warned]:
    found = []
    if not store.runs:
        found.append(Warned("The store has no runs: there is nothing to report yet."))
    if store.quarantined:
        are = "folder is" if store.quarantined == 1 else "folders are"
        more = store.quarantined > len(store.quarantine_newest)
        found.append(
            Warned(
                f"{store.quarantined:,} run {are} quarantined, and not in any number below "
                f"({'; '.join(reasons(store))})."
                + (" These are the newest; the store's table quarantine lists each of them." if more else ""),
                tuple(map(one_line, store.quarantine_newest)),
            )
        )
    if store.clock_jumps:
        found.append(
            Warned(
                f"The wall clock jumped in {counted(store.clock_jumps, 'run')}, or was wrong all the time: "
                "the order of these runs in time is uncertain, but their durations are right."
            )
        )
    return found
