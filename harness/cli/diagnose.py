"""`rocketchaos diagnose`: what is wrong in a live cluster, read only."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rocketchaos.harness.cli.diagnose_answers import Answers
from rocketchaos.harness.cli.diagnose_options import (
    AccessKeyFileOption,
    AllGroupsOption,
    BundleArgument,
    BundleOption,
    GroupsOption,
    ListOption,
    MapOption,
    MetricsOption,
    NamesrvOption,
    OnlyOption,
    Output,
    OutputOption,
    ProxiesOption,
    ReadMessagesOption,
    SkipOption,
    Threshold,
    ThresholdOption,
    TlsCaOption,
    TlsOption,
    TopicsOption,
    VerboseOption,
    WatchOption,
    WithinOption,
    WriteScenarioOption,
)
from rocketchaos.harness.cli.ending import reader_may_go
from rocketchaos.harness.cli.output_files import require_writable
from rocketchaos.harness.cli.terminal import ERR, OUT
from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode, UsageProblem
from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.diagnose import target
from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.collect import Scope
from rocketchaos.harness.diagnose.diagnosis import Diagnosis, Report
from rocketchaos.harness.diagnose.finding import Check, Level
from rocketchaos.harness.diagnose.gate import Access, Gate, Limits
from rocketchaos.harness.diagnose.output.text import plain
from rocketchaos.harness.diagnose.silence import of_this_user
from rocketchaos.harness.diagnose.words import clock
from rocketchaos.harness.language.words import parse_duration_ms

if TYPE_CHECKING:
    from rocketchaos.harness.diagnose.metrics import Metrics
    from rocketchaos.harness.diagnose.model import Look

    OnLook = Callable[[Report], None]
    OnLost = Callable[[Look, str], None]


def diagnose(
    context: typer.Context,
    bundle: BundleArgument = None,
    namesrv: NamesrvOption = None,
    groups: GroupsOption = None,
    all_groups: AllGroupsOption = False,
    topics: TopicsOption = None,
    proxies: ProxiesOption = None,
    access_key_file: AccessKeyFileOption = None,
    tls: TlsOption = False,
    tls_ca: TlsCaOption = None,
    mapped: MapOption = None,
    output: OutputOption = Output.TEXT,
    threshold: ThresholdOption = Threshold.WARNING,
    only: OnlyOption = None,
    skip: SkipOption = None,
    read_messages: ReadMessagesOption = False,
    write_bundle: BundleOption = None,
    write_scenario: WriteScenarioOption = None,
    watch: WatchOption = None,
    within: WithinOption = None,
    metrics: MetricsOption = None,
    list_checks: ListOption = False,
    verbose: VerboseOption = False,
) -> ExitCode:
    """Find what is wrong in a live cluster, and prove it. It only reads the cluster.

    Exit codes: 0 nothing at the threshold or above, 1 findings, 2 wrong usage, 3 something could not be
    determined, 4 no server answers, 130 interrupted by Ctrl-C.
    """
    if list_checks:
        return _list(output)
    checks = _chosen(only or (), skip or ())
    answers = Answers(verbose, OUT if output is Output.TEXT else ERR)
    if bundle is not None:
        asked = {
            "--namesrv": _typed(context, "namesrv"), "--group": groups, "--all-groups": all_groups,
            "--topic": topics, "--proxy": proxies, "--access-key-file": access_key_file, "--tls": tls,
            "--tls-ca": tls_ca, "--map": mapped, "--read-messages": read_messages, "--bundle": write_bundle,
            "--watch": watch, "--within": within, "--metrics": metrics,
        }  # fmt: skip
        _refuse_with_a_bundle(*(name for name, value in asked.items() if value))
        recorded = asyncio.run(_look_at_bundle(bundle, checks))
        return _ended(recorded, threshold, output, write_scenario, answers, writes=False)
    if namesrv is None:
        raise UsageProblem("no name server is given", "Give the name server: `--namesrv HOST:9876`.")
    if groups and all_groups:
        raise UsageProblem("`--group` and `--all-groups` exclude each other", "Leave one out.")
    if watch is not None and within is not None:
        raise UsageProblem("`--watch` and `--within` exclude each other", "Leave one out.")
    within_s = math.inf if within is None else _seconds("--within", within)
    scope = Scope(
        target.name_servers(namesrv),
        tuple(dict.fromkeys(groups)) if groups else None,
        tuple(topics or ()),
        tuple(target.address(proxy, "--proxy") for proxy in proxies or ()),
        read_messages,
    )
    if write_bundle is not None:
        require_writable(write_bundle, "Give another `--bundle`.")
    access = Access(target.secrets(access_key_file), target.tls(tls, tls_ca), target.mapped(mapped or ()))
    watched = _watch(watch, metrics, output)
    report = _look(access, scope, checks, write_bundle, watched, within_s, answers)
    writes = write_bundle is not None or write_scenario is not None
    return _ended(report, threshold, output, write_scenario, answers, writes=writes)


def _typed(context: typer.Context, option: str) -> bool:
    """Whether the command line itself has the option: one of the environment leaves a bundle as it is."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _refuse_with_a_bundle(*options: str) -> None:
    if options:
        raise UsageProblem(
            f"a bundle has only what was asked when it was written: {', '.join(options)} can't be applied to it",
            "Leave that out, or leave out the bundle and give `--namesrv`.",
        )


def _ended(
    report: Report,
    threshold: Threshold,
    output: Output,
    folder: Path | None,
    answers: Answers,
    *,
    writes: bool,
) -> ExitCode:
    code = code_of(report, Level[threshold.name])
    with reader_may_go():
        _tell(report, code, output, answers)
    if report.interrupted:
        answers.interrupted(writes=writes)
    elif folder is not None:
        from rocketchaos.harness.cli.diagnosed_scenarios import write_scenarios

        write_scenarios(report, folder)
    if report.unreached:
        raise EnvironmentNotReady(
            report.unreached,
            f"All findings are of {clock(report.looks[-1].at_ms)}, when servers last answered.",
        )
    return code


@dataclass(frozen=True, slots=True)
class Watch:
    """How long to watch, and whom to notify."""

    seconds: float
    metrics: str | None
    output: Output

    def tell(self, metrics: Metrics | None) -> tuple[OnLook, OnLost]:
        """Tells each look: its changes, and the metrics; and a look that nobody answered."""
        from rocketchaos.harness.diagnose.changes import FindingChanges, Reach, changes, registrations

        findings, reach = FindingChanges(), Reach()
        speaker = OUT if self.output is Output.TEXT else ERR

        def on_look(report: Report) -> None:
            for line in (*reach.of(report), *registrations(report)):
                speaker.print(plain(line))
            for group in report.looks[-1].stored:
                for line in changes(report.views[group]):
                    speaker.print(plain(line))
            for line in findings.of(report):
                speaker.print(plain(line))
            if metrics is not None:
                metrics.tell(report)

        def on_lost(look: Look, why: str) -> None:
            for line in reach.lost(look, why):
                speaker.print(plain(line))
            if metrics is not None:
                metrics.lose()

        return on_look, on_lost


def _watch(duration: str | None, metrics: str | None, output: Output) -> Watch | None:
    if duration is None:
        if metrics is not None:
            raise UsageProblem("`--metrics` needs `--watch`", "Say how long: `--watch 1h`.")
        return None
    seconds = _seconds("--watch", duration)
    return Watch(seconds, None if metrics is None else target.address(metrics, "--metrics"), output)


def _seconds(option: str, duration: str) -> float:
    try:
        return parse_duration_ms(duration) / 1000
    except ValueError as error:
        advice = "Give one number and one unit, such as `2m`: `5m10s` is `310s`."
        raise UsageProblem(f"{option}: {error}", advice) from error


def _look(
    access: Access,
    scope: Scope,
    checks: Sequence[Check],
    write_bundle: Path | None,
    watch: Watch | None,
    within_s: float,
    answers: Answers,
) -> Report:
    seconds = watch.seconds if watch else 0.0
    limits = Limits(total_s=max(Limits().total_s, seconds + 60))

    async def look(
        on_look: OnLook = lambda _report: None, on_lost: OnLost = lambda _look, _why: None
    ) -> Report:
        recorded = write_bundle is not None
        gate = Gate(access, limits, recorded=recorded, silence=of_this_user(), progress=_progress)
        async with gate:
            diagnosis = Diagnosis(
                gate, scope, checks,
                watch_s=seconds, within_s=within_s, on_look=on_look, on_lost=on_lost,
                on_early_answer=answers.early,
            )  # fmt: skip
            report = await diagnosis.run()
        if write_bundle is not None and not report.interrupted:
            from rocketchaos.harness.diagnose import bundle

            names = bundle.write(write_bundle, scope, diagnosis.looked, gate.record)
            ERR.print(f"{write_bundle} is written; keep {names} private")
        return report

    if watch is None:
        return asyncio.run(look())
    if watch.metrics is None:
        return asyncio.run(look(*watch.tell(None)))
    from rocketchaos.harness.diagnose.metrics import Metrics

    host, _, port = watch.metrics.rpartition(":")
    with Metrics(host, int(port)) as metrics:
        return asyncio.run(look(*watch.tell(metrics)))


def _progress(text: str) -> None:
    ERR.print(plain(f"{text} ..."))


async def _look_at_bundle(path: Path, checks: Sequence[Check]) -> Report:
    from rocketchaos.harness.diagnose import bundle

    found = bundle.read(path)
    recorded = bundle.Recorded(found.exchanges, found.looks)
    return await Diagnosis(recorded, found.scope, checks, recorded=recorded).run()


def code_of(report: Report, threshold: Level) -> ExitCode:
    """1 if something is found, otherwise 3 if something could not be determined, otherwise 0; 130 after Ctrl-C, 4
    if nobody answered the last look."""
    if report.interrupted:
        return ExitCode.INTERRUPTED
    if report.unreached:
        return ExitCode.ENVIRONMENT
    if report.at_least(threshold):
        return ExitCode.NOT_AS_EXPECTED
    return ExitCode.INCONCLUSIVE if report.undetermined else ExitCode.AS_EXPECTED


def _tell(report: Report, code: ExitCode, output: Output, answers: Answers) -> None:
    if output is Output.JSON:
        from rocketchaos.harness.diagnose.output.document import document

        OUT.print_json(document(report, code))
    elif output is Output.HTML:
        from rocketchaos.harness.diagnose.output.page import page

        OUT.print(page(report, code))
    else:
        answers.last(report)


def _list(output: Output) -> ExitCode:
    if output is Output.JSON:
        from rocketchaos.harness.diagnose.output.document import check_document

        OUT.print_json([check_document(check) for check in CHECKS.values()])
    else:
        from rocketchaos.harness.diagnose.output.text import listed

        OUT.print(listed(CHECKS.values()))
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
