"""`report flakiness`: which cells don't always end as expected, since when, under which conditions, and why."""

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.diff import newest, newest_section
from rocketchaos.spark_reports.flakiness import figures, tables
from rocketchaos.spark_reports.flakiness.assess import assess
from rocketchaos.spark_reports.flakiness.cells import Names
from rocketchaos.spark_reports.flakiness.conditions import conditions
from rocketchaos.spark_reports.flakiness.costs import SAYS as LOST
from rocketchaos.spark_reports.flakiness.costs import costs_line, costs_tables
from rocketchaos.spark_reports.flakiness.known import FILE, known_table, known_text
from rocketchaos.spark_reports.flakiness.lines import headline, lines
from rocketchaos.spark_reports.flakiness.read import read
from rocketchaos.spark_reports.flakiness.versions import version_changes
from rocketchaos.spark_reports.report import Figure, Report, Section, StoreSummary


def flakiness(answers: Answers, summary: StoreSummary) -> Report:
    """Make the report."""
    facts = read(answers)
    cells = assess(facts)
    names = Names(facts.counts)
    found = conditions(facts.bins)
    changes = version_changes(facts.versions)
    return Report(
        "flakiness",
        "Flakiness",
        headline(cells, names, found, summary),
        lines(cells, names, found, changes, facts.signatures, summary),
        [
            newest_section(answers.once(newest)),
            Section(
                "Cells",
                "A cell is a scenario with one client, on one version of RocketMQ, kind of cluster and timing.",
                [
                    *_drawn(figures.map_figure(cells, names), figures.intervals_figure(cells, names)),
                    tables.cells_table(cells),
                ],
            ),
            Section(
                "Over time",
                "When the share of runs as expected changed, and with which version.",
                [
                    *_drawn(figures.time_figure(cells, names), figures.strips_figure(cells, names)),
                    tables.changes_table(cells),
                    tables.versions_table(changes),
                ],
            ),
            Section(
                "Causes",
                "The findings of runs that did not end as expected, or ended in an error.",
                [*_drawn(figures.causes_figure(facts.signatures)), tables.signatures_table(facts.signatures)],
            ),
            Section(
                "Costs",
                " ".join(filter(None, (costs_line(facts.costs), LOST))),
                [*costs_tables(facts.costs), known_table(facts.known)],
            ),
            Section(
                "Conditions",
                "The measured values that differ between runs as expected and other runs.",
                [*_drawn(figures.conditions_figure(found)), tables.conditions_table(found)],
            ),
        ],
        summary,
        {FILE: known_text(facts.known)},
    )


def _drawn(*pictures: Figure | None) -> list[Figure]:
    """The figures that have something to show."""
    return [picture for picture in pictures if picture is not None]
