"""`rocketchaos down`: the end of clusters that stay up."""

from typing import Annotated

import typer

from rocketchaos.harness.cli.terminal import OUT
from rocketchaos.harness.cluster.running import running, take_down
from rocketchaos.harness.core.errors import ExitCode, UsageProblem


def down(
    cluster: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Only this cluster. Default: all.")
    ] = None,
) -> ExitCode:
    """Stop clusters that `up` or `--keep` left up, and delete all that they store."""
    records = running()
    if cluster is not None:
        chosen = [record for record in records if record.id == cluster]
        if not chosen:
            known = ", ".join(record.id for record in records) or "none"
            raise UsageProblem(f"there is no running cluster {cluster}", f"Running: {known}.")
        records = chosen
    for record in records:
        take_down(record)
        OUT.print(f"RocketMQ {record.version} ({record.id}) is down.")
    if not records:
        OUT.print("Nothing is up.")
    return ExitCode.AS_EXPECTED
