"""`rocketchaos diagnose`: what is wrong in a live cluster, read only."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocketchaos.harness.cli.terminal import ERR, OUT
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.diagnose import target
from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.collect import Scope
from rocketchaos.harness.diagnose.diagnosis import Diagnosis, Report
from rocketchaos.harness.diagnose.finding import Check, Level
from rocketchaos.harness.diagnose.gate import Access, Gate, Limits
from rocketchaos.harness.diagnose.output.text import plain
from rocketchaos.harness.language.words import parse_duration_ms

if TYPE_CHECKING:
    from rocketchaos.harness.diagnose.metrics import Metrics


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


def diagnose(
    bundle: Annotated[
        Path | None,
        typer.Argument(
            metavar="[BUNDLE]", help="What `--bundle` wrote, instead of a cluster.", show_default=False
        ),
    ] = None,
    namesrv: Annotated[
        str | None,
        typer.Option(
            "--namesrv",
            metavar="HOST:PORT[;…]",
            envvar="NAMESRV_ADDR",
            help="Its name servers: also one name with several addresses, or http://… of a list.",
        ),
    ] = None,
    groups: Annotated[
        list[str] | None, typer.Option("--group", metavar="G", help="Only this group; may be given again.")
    ] = None,
    all_groups: Annotated[
        bool, typer.Option("--all-groups", help="All groups that the brokers know: the default.")
    ] = False,
    topics: Annotated[
        list[str] | None, typer.Option("--topic", metavar="T", help="Only this topic; may be given again.")
    ] = None,
    proxies: Annotated[
        list[str] | None,
        typer.Option(
            "--proxy", metavar="HOST:PORT", help="A proxy's remoting port, which knows groups of its own."
        ),
    ] = None,
    access_key_file: Annotated[
        Path | None,
        typer.Option(
            "--access-key-file",
            metavar="FILE",
            help=f"`accessKey: …` and `secretKey: …`. [default: {target.ACCESS_KEY_VARIABLE} and "
            f"{target.SECRET_KEY_VARIABLE}]",
        ),
    ] = None,
    tls: Annotated[bool, typer.Option("--tls", help="Speak TLS, and take any certificate.")] = False,
    tls_ca: Annotated[
        Path | None,
        typer.Option("--tls-ca", metavar="FILE", help="Speak TLS with servers that this authority knows."),
    ] = None,
    mapped: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="THERE=HERE",
            help="Where an address that brokers advertise is reached from here; may be given again.",
        ),
    ] = None,
    output: Annotated[
        Output, typer.Option("--output", "-o", help="How the report is written.")
    ] = Output.TEXT,
    threshold: Annotated[
        Threshold, typer.Option("--threshold", help="From this level on a finding makes the exit code 1.")
    ] = Threshold.WARNING,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="CODE", help="Only this check; may be given again.")
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option("--skip", metavar="CODE", help="Not this check; may be given again.")
    ] = None,
    read_messages: Annotated[
        bool,
        typer.Option(
            "--read-messages",
            help="Read the newest messages where it matters, outside any group, to be certain of their tags.",
        ),
    ] = False,
    write_bundle: Annotated[
        Path | None,
        typer.Option(
            "--bundle",
            metavar="FILE",
            help="Write all that was asked and answered, in pseudonyms; FILE.names.json says what they stand for.",
        ),
    ] = None,
    write_scenario: Annotated[
        Path | None,
        typer.Option(
            "--write-scenario",
            metavar="FOLDER",
            help="Write scenarios there that do the findings again, each with a control.",
        ),
    ] = None,
    watch: Annotated[
        str | None,
        typer.Option(
            "--watch", metavar="DURATION", help="Look on for so long, `2m`, and tell what changes as it does."
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics", metavar="HOST:PORT", help="Serve the findings to Prometheus, with `--watch`."
        ),
    ] = None,
    list_checks: Annotated[bool, typer.Option("--list", help="List all checks, and end.")] = False,
) -> ExitCode:
    """Say what is wrong in a live cluster, and prove it. Nothing of the cluster is changed.

    Exit codes: 0 nothing at the threshold or above, 1 findings, 2 wrong usage, 3 something could not be
    determined, 4 nobody answers.
    """
    if list_checks:
        return _list(output)
    checks = _chosen(only or (), skip or ())
    if bundle is not None:
        recorded = asyncio.run(_look_at_bundle(bundle, checks))
        return _ended(recorded, threshold, output, write_scenario)
    if namesrv is None:
        raise UsageProblem("whom to ask?", "Give the name server: `--namesrv HOST:9876`.")
    if groups and all_groups:
        raise UsageProblem("`--group` and `--all-groups` exclude each other", "Leave one out.")
    scope = Scope(
        target.name_servers(namesrv),
        tuple(dict.fromkeys(groups)) if groups else None,
        tuple(topics or ()),
        tuple(target.address(proxy, "--proxy") for proxy in proxies or ()),
        read_messages,
    )
    access = Access(target.secrets(access_key_file), target.tls(tls, tls_ca), target.mapped(mapped or ()))
    report = _look(access, scope, checks, write_bundle, _watch(watch, metrics, output))
    return _ended(report, threshold, output, write_scenario)


def _ended(report: Report, threshold: Threshold, output: Output, folder: Path | None) -> ExitCode:
    code = code_of(report, Level[threshold.name])
    _tell(report, code, output)
    if folder is not None:
        from rocketchaos.harness.cli.diagnosed_scenarios import write_scenarios

        write_scenarios(report, folder)
    return code


@dataclass(frozen=True, slots=True)
class Watch:
    """How long to watch, and whom to notify."""

    seconds: float
    metrics: str | None
    output: Output

    def tell(self, metrics: Metrics | None) -> Callable[[Report], None]:
        """Tells each look: its changes, and the metrics."""
        from rocketchaos.harness.diagnose.changes import changes

        speaker = OUT if self.output is Output.TEXT else ERR

        def on_look(report: Report) -> None:
            for group in report.looks[-1].stored:
                for line in changes(report.views[group]):
                    speaker.print(plain(line), markup=False)
            if metrics is not None:
                metrics.tell(report)

        return on_look


def _watch(duration: str | None, metrics: str | None, output: Output) -> Watch | None:
    if duration is None:
        if metrics is not None:
            raise UsageProblem("`--metrics` needs `--watch`", "Say how long: `--watch 1h`.")
        return None
    try:
        seconds = parse_duration_ms(duration) / 1000
    except ValueError as error:
        raise UsageProblem(f"--watch: {error}", "Give it such as `2m`.") from error
    return Watch(seconds, None if metrics is None else target.address(metrics, "--metrics"), output)


def _look(
    access: Access, scope: Scope, checks: Sequence[Check], write_bundle: Path | None, watch: Watch | None
) -> Report:
    seconds = watch.seconds if watch else 0.0
    limits = Limits(total_s=max(Limits().total_s, seconds + 60))

    async def look(on_look: Callable[[Report], None]) -> Report:
        async with Gate(access, limits, recorded=write_bundle is not None) as gate:
            diagnosis = Diagnosis(gate, scope, checks, watch_s=seconds, progress=_progress, on_look=on_look)
            report = await diagnosis.run()
        if write_bundle is not None:
            from rocketchaos.harness.diagnose import bundle

            names = bundle.write(write_bundle, scope, diagnosis.looked, gate.record)
            ERR.print(f"{write_bundle} is written; keep {names} for yourself", markup=False)
        return report

    if watch is None:
        return asyncio.run(look(lambda _report: None))
    if watch.metrics is None:
        return asyncio.run(look(watch.tell(None)))
    from rocketchaos.harness.diagnose.metrics import Metrics

    host, _, port = watch.metrics.rpartition(":")
    with Metrics(host, int(port)) as metrics:
        return asyncio.run(look(watch.tell(metrics)))


def _progress(text: str) -> None:
    ERR.print(f"{text} ...", markup=False)


async def _look_at_bundle(path: Path, checks: Sequence[Check]) -> Report:
    from rocketchaos.harness.diagnose import bundle

    found = bundle.read(path)
    recorded = bundle.Recorded(found.exchanges, found.looks)
    return await Diagnosis(recorded, found.scope, checks, recorded=recorded).run()


def code_of(report: Report, threshold: Level) -> ExitCode:
    """1 where something is found, otherwise 3 where something could not be determined, otherwise 0."""
    if report.at_least(threshold):
        return ExitCode.NOT_AS_EXPECTED
    return ExitCode.INCONCLUSIVE if report.undetermined else ExitCode.AS_EXPECTED


def _tell(report: Report, code: ExitCode, output: Output) -> None:
    if output is Output.JSON:
        from rocketchaos.harness.diagnose.output.document import document

        json.dump(document(report, code), sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")
    elif output is Output.HTML:
        from rocketchaos.harness.diagnose.output.page import page

        OUT.print(page(report, code), markup=False)
    else:
        from rocketchaos.harness.diagnose.output.text import text

        OUT.print(text(report), markup=False)


def _list(output: Output) -> ExitCode:
    if output is Output.JSON:
        from rocketchaos.harness.diagnose.output.document import check_document

        json.dump([check_document(check) for check in CHECKS.values()], sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        from rocketchaos.harness.diagnose.output.text import listed

        OUT.print(listed(CHECKS.values()), markup=False)
    return ExitCode.AS_EXPECTED


def _chosen(only: Iterable[str], skip: Iterable[str]) -> tuple[Check, ...]:
    wanted, unwanted = [_code(text) for text in only], {_code(text) for text in skip}
    chosen = tuple(
        check for code, check in CHECKS.items() if code not in unwanted and (not wanted or code in wanted)
    )
    if not chosen:
        raise UsageProblem("no check is left", "Leave out `--only` or `--skip`.")
    return chosen


def _code(text: str) -> str:
    code = text.upper()
    if code not in CHECKS:
        near = nearest(code, list(CHECKS))
        raise UsageProblem(
            f"there is no check {text[:40]!r}" + (f"; did you mean {near}?" if near else ""),
            "`rocketchaos diagnose --list` lists them.",
        )
    return code
