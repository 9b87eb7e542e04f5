"""The options of `rocketchaos diagnose`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rocketchaos.harness.diagnose import target


class Output(StrEnum):
    """How a report is written."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"


class Threshold(StrEnum):
    """From which level on a finding counts for the exit code."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


BundleArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[BUNDLE]", help="What `--bundle` wrote, instead of a cluster.", show_default=False
    ),
]

NamesrvOption = Annotated[
    str | None,
    typer.Option(
        "--namesrv",
        metavar="HOST:PORT[;…]",
        envvar="NAMESRV_ADDR",
        help="Its name servers: also one name with several addresses, or http://… of a list.",
    ),
]

GroupsOption = Annotated[
    list[str] | None, typer.Option("--group", metavar="G", help="Only this group; may be given again.")
]

AllGroupsOption = Annotated[
    bool, typer.Option("--all-groups", help="All groups that the brokers know: the default.")
]

TopicsOption = Annotated[
    list[str] | None, typer.Option("--topic", metavar="T", help="Only this topic; may be given again.")
]

ProxiesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--proxy", metavar="HOST:PORT", help="A proxy's remoting port, which knows groups of its own."
    ),
]

AccessKeyFileOption = Annotated[
    Path | None,
    typer.Option(
        "--access-key-file",
        metavar="FILE",
        help=f"`accessKey: …` and `secretKey: …`. [default: {target.ACCESS_KEY_VARIABLE} and "
        f"{target.SECRET_KEY_VARIABLE}]",
    ),
]

TlsOption = Annotated[bool, typer.Option("--tls", help="Speak TLS, and take any certificate.")]

TlsCaOption = Annotated[
    Path | None,
    typer.Option("--tls-ca", metavar="FILE", help="Speak TLS with servers that this authority knows."),
]

MapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="THERE=HERE",
        help="Where an address that brokers advertise is reached from here; may be given again.",
    ),
]

OutputOption = Annotated[Output, typer.Option("--output", "-o", help="How the report is written.")]

ThresholdOption = Annotated[
    Threshold, typer.Option("--threshold", help="From this level on a finding makes the exit code 1.")
]

OnlyOption = Annotated[
    list[str] | None, typer.Option("--only", metavar="CODE", help="Only this check; may be given again.")
]

SkipOption = Annotated[
    list[str] | None, typer.Option("--skip", metavar="CODE", help="Not this check; may be given again.")
]

ReadMessagesOption = Annotated[
    bool,
    typer.Option(
        "--read-messages",
        help="Read the newest messages where it matters, outside any group, to be certain of their tags.",
    ),
]

BundleOption = Annotated[
    Path | None,
    typer.Option(
        "--bundle",
        metavar="FILE",
        help="Write all that was asked and answered, in pseudonyms; FILE.names.json says what they stand for.",
    ),
]

WriteScenarioOption = Annotated[
    Path | None,
    typer.Option(
        "--write-scenario",
        metavar="FOLDER",
        help="Write scenarios there that do the findings again, each with a control.",
    ),
]

WatchOption = Annotated[
    str | None,
    typer.Option(
        "--watch", metavar="DURATION", help="Look on for so long, `2m`, and tell what changes as it does."
    ),
]

MetricsOption = Annotated[
    str | None,
    typer.Option("--metrics", metavar="HOST:PORT", help="Serve the findings to Prometheus, with `--watch`."),
]

ListOption = Annotated[bool, typer.Option("--list", help="List all checks, and end.")]
