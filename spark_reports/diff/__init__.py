"""`report diff`: what is new, in the newest runs, or from one night to another."""

from dataclasses import replace

from rocketchaos.spark_reports.answers import Answers
from rocketchaos.spark_reports.diff.compare import News, Verdict, compare
from rocketchaos.spark_reports.diff.lines import headline, lines
from rocketchaos.spark_reports.diff.read import read
from rocketchaos.spark_reports.diff.sides import NEWEST, Sides
from rocketchaos.spark_reports.diff.tables import tables
from rocketchaos.spark_reports.queries import queries_of
from rocketchaos.spark_reports.report import Report, Section, StoreSummary
from rocketchaos.spark_reports.session import Session

_SECTION = "What is new"


def diff(answers: Answers, summary: StoreSummary) -> Report:
    """The report on the newest ingest."""
    return _report(answers.once(newest), summary, NEWEST)


def diff_between(session: Session, summary: StoreSummary, sides: Sides) -> tuple[Report, Verdict]:
    """The report on these sides, and whether anything is worse."""
    session.sql(sides.statement.rstrip(";"))
    answers = Answers(session)
    with answers.asked_ahead(queries_of(["diff"])):
        news = compare(read(answers))
    return _report(news, summary, sides), news.verdict


def newest(answers: Answers) -> News:
    """The changes by the newest ingest."""
    return compare(read(answers))


def newest_section(news: News) -> Section:
    """A section of it for another report."""
    return _section(news, NEWEST)


def _report(news: News, summary: StoreSummary, sides: Sides) -> Report:
    views = [*(text for text in summary.views if " VIEW sides AS" not in text), sides.statement]
    return Report(
        "diff",
        "What is new",
        headline(news, sides),
        lines(news),
        [_section(news, sides)],
        replace(summary, views=views),
    )


def _section(news: News, sides: Sides) -> Section:
    before, after = news.runs
    return Section(
        _SECTION,
        f"{sides.after[:1].upper()}{sides.after[1:]} ({after:,} runs) against {sides.before} ({before:,}); "
        f"{news.compared:,} cells have judged runs on both sides.",
        tables(news),
    )
