"""The options of `rocketchaos diagnose`."""

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
        metavar="[BUNDLE]", help="A file that `--bundle` wrote, in place of a cluster.", show_default=False
    ),
]

NamesrvOption = Annotated[
    str | None,
    typer.Option(
        "--namesrv",
        metavar="HOST:PORT[;…]",
        envvar="NAMESRV_ADDR",
        help="The cluster's name servers, a host name with several addresses, or the http:// URL of a list.",
    ),
]

GroupsOption = Annotated[
    list[str] | None, typer.Option("--group", metavar="G", help="Only this group; can be repeated.")
]

AllGroupsOption = Annotated[
    bool, typer.Option("--all-groups", help="All groups that the brokers know: the default.")
]

TopicsOption = Annotated[
    list[str] | None, typer.Option("--topic", metavar="T", help="Only this topic; can be repeated.")
]

ProxiesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--proxy",
        metavar="HOST:PORT",
        help="A proxy's remoting port; the proxy has groups that brokers don't know.",
    ),
]

AccessKeyFileOption = Annotated[
    Path | None,
    typer.Option(
        "--access-key-file",
        metavar="FILE",
        help=f"`accessKey: …` and `secretKey: …`. Default: {target.ACCESS_KEY_VARIABLE} and "
        f"{target.SECRET_KEY_VARIABLE}.",
    ),
]

TlsOption = Annotated[bool, typer.Option("--tls", help="Use TLS, and accept any certificate.")]

TlsCaOption = Annotated[
    Path | None,
    typer.Option("--tls-ca", metavar="FILE", help="Use TLS, and accept certificates of this authority."),
]

MapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="THERE=HERE",
        help="Where an address that brokers advertise is reached from here; can be repeated.",
    ),
]

OutputOption = Annotated[Output, typer.Option("--output", "-o", help="The format of the report.")]

ThresholdOption = Annotated[
    Threshold, typer.Option("--threshold", help="A finding of this level or above makes the exit code 1.")
]

OnlyOption = Annotated[
    list[str] | None, typer.Option("--only", metavar="CODE", help="Only this check; can be repeated.")
]

SkipOption = Annotated[
    list[str] | None, typer.Option("--skip", metavar="CODE", help="Skip this check; can be repeated.")
]

ReadMessagesOption = Annotated[
    bool,
    typer.Option(
        "--read-messages",
        help="Read the newest messages if a check needs their tags, without joining a group.",
    ),
]

BundleOption = Annotated[
    Path | None,
    typer.Option(
        "--bundle",
        metavar="FILE",
        help="Write all requests and answers, with pseudonyms; FILE.names.json has the real names.",
    ),
]

WriteScenarioOption = Annotated[
    Path | None,
    typer.Option(
        "--write-scenario",
        metavar="FOLDER",
        help="Write scenarios there that reproduce the findings, each with a control.",
    ),
]

WatchOption = Annotated[
    str | None,
    typer.Option(
        "--watch", metavar="DURATION", help="Keep watching for this long, `2m`, and report each change."
    ),
]

WithinOption = Annotated[
    str | None,
    typer.Option(
        "--within",
        metavar="DURATION",
        help="Begin no look after this time, `3s`. A possible change under way is then undetermined. Default: "
        "print a first answer at once, and look again until the change is over.",
    ),
]

MetricsOption = Annotated[
    str | None,
    typer.Option("--metrics", metavar="HOST:PORT", help="Serve the findings to Prometheus, with `--watch`."),
]

ListOption = Annotated[bool, typer.Option("--list", help="List all checks and exit.")]

VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also print what each check that found nothing ruled out.")
]
