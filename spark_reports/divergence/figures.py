"""The pictures of the report."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rocketchaos.harness.core.message_classes import CLASS_WORDS
from rocketchaos.harness.core.model import MessageClass
from rocketchaos.spark_reports.divergence.compare import Judged, Verdict
from rocketchaos.spark_reports.divergence.read import Facts
from rocketchaos.spark_reports.divergence.tables import pair_anchor, shown_name
from rocketchaos.spark_reports.divergence.witnesses import Statement
from rocketchaos.spark_reports.divergence.words import evidence
from rocketchaos.spark_reports.queries import queries
from rocketchaos.spark_reports.render import style
from rocketchaos.spark_reports.render.figures.bars import Bar, stacked_bars
from rocketchaos.spark_reports.render.figures.forest import Estimate, forest
from rocketchaos.spark_reports.render.figures.heat_map import Cell as Square
from rocketchaos.spark_reports.render.figures.heat_map import share_map
from rocketchaos.spark_reports.report import Figure

BARS, ROWS = 80, 40
"""At most this many rows of a figure: more can't be read, and the tables have all."""
_VERDICTS: Mapping[str, str] = {
    Verdict.DIVERGES: style.BAD,
    Verdict.EXACT: style.DOUBTFUL,
    Verdict.OPEN: style.ACCENT,
    Verdict.TOO_FEW: style.NEUTRAL,
}
NOT_ASKED = "not asked"


def messages_figure(facts: Facts, judged: Sequence[Judged]) -> Figure | None:
    """Stacked bars per cell; scenarios whose cells differ most first."""
    order = {name: place for place, name in enumerate(_scenarios(judged))}
    cells = sorted(facts.fates, key=lambda cell: (order.get(cell.scenario, len(order)), cell))
    if not cells:
        return None
    bars = [
        Bar((cell.scenario, cell.label), {kind: facts.fates[cell].total(kind) for kind in MessageClass})
        for cell in cells[:BARS]
    ]
    return Figure(
        "messages",
        "Classes of messages",
        "All messages of the runs that show their fate, by class. The scenarios whose cells differ most come "
        "first" + (f"; {BARS} of {len(cells)} cells." if len(cells) > BARS else "."),
        stacked_bars(
            bars,
            {str(kind): colour for kind, colour in style.CLASS_COLOURS.items()},
            {kind: words.text for kind, words in CLASS_WORDS.items()},
            {kind: words.code for kind, words in CLASS_WORDS.items()},
        ),
        queries("divergence_classes"),
    )


def _scenarios(judged: Sequence[Judged]) -> list[str]:
    return list(dict.fromkeys(item.compared.pair.first.scenario for item in judged))


def differences_figure(judged: Sequence[Judged]) -> Figure | None:
    """A forest plot of the worst differences."""
    differing = [item for item in judged if item.of_messages and item.compared.difference.point]
    if not differing:
        return None
    rows = [
        Estimate(
            (item.compared.pair.first.scenario, shown_name(item.compared)),
            *item.compared.difference,
            kind=item.verdict.value,
            says=[shown_name(item.compared), evidence(item), item.verdict.value],
            leads_to=pair_anchor(item),
        )
        for item in _by_scenario(differing[:ROWS])
    ]
    shown = f" The worst {ROWS} of {len(differing)}." if len(differing) > ROWS else ""
    return Figure(
        "differences",
        "Differences between cells",
        f"Difference of the shares of a run's messages, first side minus second, with 95 % intervals.{shown}",
        forest(rows, "difference of shares", (-1.0, 1.0), 0.0, _VERDICTS, percent=True),
        queries("divergence_classes", "divergence_outcomes"),
        methods=("bounded-mean",),
    )


def _by_scenario(judged: Sequence[Judged]) -> list[Judged]:
    """Scenarios together, in the order in which they first come."""
    order = {name: place for place, name in enumerate(_scenarios(judged))}
    return sorted(judged, key=lambda item: order[item.compared.pair.first.scenario])


def witnesses_figure(found: Sequence[Statement]) -> Figure | None:
    """For each class, the tracks that the broker's tools and the dashboard show for its messages."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for statement in found:
        counts[statement.message_class, "broker's tools", statement.broker_track or NOT_ASKED] += (
            statement.messages
        )
        counts[statement.message_class, "dashboard", statement.dashboard_track or NOT_ASKED] += (
            statement.messages
        )
    if not counts:
        return None
    classes = [kind for kind in CLASS_WORDS if any(key[0] == kind for key in counts)]
    columns = sorted({key[1:] for key in counts}, key=lambda key: (key[0], key[1] == NOT_ASKED, key[1]))
    squares = []
    for kind in classes:
        total = sum(n for (own, witness, _), n in counts.items() if own == kind and witness == columns[0][0])
        squares += [
            Square(
                CLASS_WORDS[kind].text,
                (witness, track.replace("_", " ")),
                (number := counts[kind, witness, track]) / total,
                f"{number / total:.0%}" if number else "",
                [f"{number:,} of {total:,} messages that a tool was asked about"],
            )
            for witness, track in columns
        ]
    return Figure(
        "witnesses",
        "Tracks in the tools, by class",
        "Each row is a class of messages, over all cells; only messages that a tool was asked about count. The "
        "columns show for which share of them the broker's own tools, and the dashboard, last showed each "
        "TrackType. CONSUMED means that the group's offset passed the message, not that a listener got it.",
        share_map(squares),
        queries("divergence_witnesses"),
    )
