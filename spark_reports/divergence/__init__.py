"""`report divergence`: where clients, versions, clusters and timings differ, and where witnesses differ.

All statistics count runs, because the messages of one run depend on each other.
"""

from collections.abc import Sequence

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.divergence import figures, tables, witness_tables
from rocketchaos.spark_reports.divergence.as_expected import held_against
from rocketchaos.spark_reports.divergence.compare import compare
from rocketchaos.spark_reports.divergence.lines import headline, lines
from rocketchaos.spark_reports.divergence.read import Facts, read
from rocketchaos.spark_reports.divergence.witnesses import contradictions, statements
from rocketchaos.spark_reports.report import Figure, Report, Section, StoreSummary


def divergence(answers: Answers, summary: StoreSummary) -> Report:
    """Make the report."""
    return report(read(answers), summary)


def report(facts: Facts, summary: StoreSummary) -> Report:
    """Make the report from what Spark has counted. Pure."""
    judged, held = compare(facts), held_against(facts)
    said, matrix = contradictions(facts), statements(facts)
    return Report(
        "divergence",
        "Divergence",
        headline(judged, held, facts),
        lines(judged, held, said, facts, summary),
        [
            Section(
                "Across clients, versions, clusters and timings",
                "Comparisons of a scenario in two cells that differ in one thing only.",
                [
                    *_drawn(figures.messages_figure(facts, judged), figures.differences_figure(judged)),
                    tables.messages_table(judged, facts),
                    tables.outcomes_table(judged, facts),
                    tables.cells_table(facts),
                ],
            ),
            Section(
                "Workers, broker and dashboard",
                "Three witnesses report the fate of a message.",
                [
                    *_drawn(figures.witnesses_figure(matrix)),
                    witness_tables.contradictions_table(said),
                    witness_tables.statements_table(matrix),
                    witness_tables.subscriptions_table(facts),
                    witness_tables.owners_table(facts),
                ],
            ),
            Section(
                "Measured against expected",
                "How the runs of each cell ended, and how the scenario expects them to end.",
                [tables.expected_table(held)],
            ),
        ],
        summary,
    )


def _drawn(*pictures: Figure | None) -> Sequence[Figure]:
    """The figures that have something to show."""
    return [picture for picture in pictures if picture is not None]
