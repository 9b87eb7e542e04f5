"""`report timing`: how long things take, against the timers of RocketMQ that should decide it."""

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.report import Report, Section, StoreSummary
from rocketchaos.spark_reports.timing.deciders import WHATS
from rocketchaos.spark_reports.timing.figures import range_figures
from rocketchaos.spark_reports.timing.lines import headline, lines
from rocketchaos.spark_reports.timing.read import read
from rocketchaos.spark_reports.timing.tables import against_table, scenarios_table, timers_table


def timing(answers: Answers, summary: StoreSummary) -> Report:
    """Make the report."""
    facts = read(answers)
    return Report(
        "timing",
        "Timing",
        headline(facts),
        lines(facts, summary),
        [
            *(
                Section(
                    what.title,
                    what.says,
                    [*range_figures(facts.measured, name), against_table(facts.measured, name)],
                )
                for name, what in WHATS.items()
            ),
            Section("Scenarios", "The durations in each scenario.", [scenarios_table(facts.scenarios)]),
            Section("Timers", "The values of RocketMQ's timers in these runs.", [timers_table(facts.timers)]),
        ],
        summary,
    )
