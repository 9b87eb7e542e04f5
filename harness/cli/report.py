"""`rocketchaos report ...`: run folders of any number, turned into reports on Spark."""

from collections.abc import Callable, Mapping

import typer

from rocketchaos.harness.cli.ending import ending_in_a_code
from rocketchaos.harness.cli.report_pages import all_reports, diff, divergence, flakiness, timing
from rocketchaos.harness.cli.report_store import export, ingest, migrate, package, tidy
from rocketchaos.harness.cli.single_options import SingleOptionsCommand
from rocketchaos.harness.core.errors import ExitCode

COMMANDS: Mapping[str, Callable[..., ExitCode]] = {
    "ingest": ingest,
    "diff": diff,
    "flakiness": flakiness,
    "divergence": divergence,
    "timing": timing,
    "all": all_reports,
    "export": export,
    "tidy": tidy,
    "migrate": migrate,
    "package": package,
}
"""In the order of the help; a new one is registered here."""


def report_application() -> typer.Typer:
    """The commands below `rocketchaos report`."""
    app = typer.Typer(
        help="Reports over many runs, on Spark: how flaky, how different, how fast.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name, command in COMMANDS.items():
        app.command(name, cls=SingleOptionsCommand)(ending_in_a_code(command))
    return app
