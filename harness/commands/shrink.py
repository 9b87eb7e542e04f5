"""`rocketchaos shrink`: the smallest scenario that still shows a finding."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from harness.campaign import Campaign, Options
from harness.cluster.kinds import ClusterKind
from harness.commands.common import RunsOption, runs_or_default, version_or, write_text
from harness.commands.terminal import ERR, OUT, Progress
from harness.errors import EnvironmentNotReady, ExitCode, UsageProblem
from harness.job import Job
from harness.library import SUFFIX
from harness.model import OutcomeKind
from harness.nightly.document import Document, document_of, text_of
from harness.nightly.findings import NightlyFinding, findings
from harness.nightly.restate import opened, restated, with_expectation
from harness.nightly.shrink import Shrinking, measured, trust_of
from harness.reporters.base import Report
from harness.reporters.folder import load_report
from harness.spec import parse_scenario


def shrink(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run that shows a finding.")],
    finding: Annotated[
        str,
        typer.Option(
            "--finding", metavar="TEXT", help="Which one, by any part of its signature. [default: the first]"
        ),
    ] = "",
    repeat: Annotated[
        int,
        typer.Option(
            "--repeat", min=1, help="So many runs of each candidate, where it takes them to trust it."
        ),
    ] = 3,
    minutes: Annotated[
        float,
        typer.Option("--minutes", min=0.5, help="So long at most; the smallest one by then is written."),
    ] = 20.0,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The scenario. [default: NAME.scenario.yaml, here]"),
    ] = None,
    runs: RunsOption = None,
) -> ExitCode:
    """Reduce a finding to the smallest scenario that still shows it, and write that as one would by hand.

    Fewer members, topics, steps, messages, queues, faults, shorter waits: each smaller one is run, and must show
    the finding as often as the original does.
    """
    report = load_report(run)
    wanted = _chosen(report, finding)
    OUT.print(f"shrinking: {wanted.signature}", markup=False)
    with Progress() as progress:
        options = _options(report, runs_or_default(runs), progress)
        with Campaign(options) as campaign:
            trial = _Trial(campaign, wanted.signature)
            document = opened(document_of(report.scenario.source, report.scenario.file))
            shown, of = measured(document, trial, repeat)
            trust = trust_of(shown, of)
            if trust is None:
                ERR.print(f"not one of {of} further runs shows it: raise --repeat", markup=False)
                return ExitCode.INCONCLUSIVE
            search = Shrinking(document, trial, trust, minutes * 60, _told(progress))
            try:
                smallest = search.run()
            except (KeyboardInterrupt, EnvironmentNotReady):
                progress.stop()
                path = _write(out, text_of(search.smallest))
                ERR.print(f"Wrote {path}: the smallest one so far that shows it", markup=False)
                raise
            origin = f"Shrunk from {report.scenario.name}, RocketMQ {options.version}"
            # Once more, and now by checks that state it. They may hold sooner than an invariant speaks, which
            # waits until nothing can be on its way any more.
            stated = restated(smallest, trial.found or wanted, origin)
            held = sum(trial.reproduces(stated) for _ in range(repeat))
        progress.stop()
    path = _write(out, text_of(with_expectation(stated, held, repeat)))
    OUT.print(
        f"{len(search.tried)} candidates, {trial.runs} runs; the original shows it in {shown} of {of}, and "
        f"the smallest, by its own checks, in {held} of {repeat}\n"
        f"Wrote {path}: rocketchaos reproduce {shlex.quote(str(path))}",
        markup=False,
    )
    return ExitCode.AS_EXPECTED


class _Trial:
    """Runs a document once, and says whether the finding is there."""

    def __init__(self, campaign: Campaign, signature: str) -> None:
        self._campaign, self._signature = campaign, signature
        self.runs = 0
        self.found: NightlyFinding | None = None
        """As it was seen last."""

    def __call__(self, document: Document) -> bool:
        """Whether a run shows it; raises as `_run`."""
        report = self._run(document)
        for one in findings(report.scenario, report.events, report.outcome):
            if one.signature == self._signature:
                self.found = one
                return True
        return False

    def reproduces(self, document: Document) -> bool:
        """Whether a run's own checks say so; raises as `_run`."""
        return self._run(document).outcome.kind is OutcomeKind.REPRODUCED

    def _run(self, document: Document) -> Report:
        """One run of it.

        Raises:
            EnvironmentNotReady: the environment failed, which says nothing of the document.
        """
        scenario = parse_scenario(text_of(document), f"{document['name']}.scenario.yaml")
        report = self._campaign.run(Job(scenario, self._campaign.options.version))
        self.runs += 1
        if report.outcome.kind is OutcomeKind.ERROR:
            raise EnvironmentNotReady(f"a run failed: {report.outcome.reason}", f"See {report.folder}.")
        return report


def _options(report: Report, runs: Path, progress: Progress) -> Options:
    """All as it was for this run."""
    return Options(
        version=version_or(report.record.get("rocketmq"), None),
        on=ClusterKind((report.record.get("cluster") or {}).get("kind") or ClusterKind.EMBEDDED),
        timing=report.record.get("timing"),
        seed=report.record.get("seed"),
        runs=runs,
        progress=progress,
    )


def _chosen(report: Report, text: str) -> NightlyFinding:
    found = findings(report.scenario, report.events, report.outcome)
    if not found:
        raise UsageProblem(
            f"{report.folder} shows no finding", "`rocketchaos nightly` names the runs that show one."
        )
    for one in found:
        if text in one.signature:
            return one
    raise UsageProblem(
        f"no finding of {report.folder} has `{text}` in its signature",
        "There are: " + "; ".join(one.signature for one in found),
    )


def _told(progress: Progress) -> Callable[[str], None]:
    return lambda text: progress(f"shrinking: {text}")


def _write(out: Path | None, text: str) -> Path:
    path = out or Path(f"{parse_scenario(text, 'shrunk').name}{SUFFIX}")
    write_text(path, text, "Choose another --out.")
    return path
