"""`rocketchaos shrink`: the smallest scenario that still shows a finding, of a run or of a whole night."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Annotated

import typer

from rocketchaos.harness.cli.common import LEAST_MINUTES, MOST_MINUTES
from rocketchaos.harness.cli.output_files import require_folder, require_writable, write_text
from rocketchaos.harness.cli.terminal import ERR, OUT, Progress
from rocketchaos.harness.core.errors import ExitCode, PreconditionNotMet, RocketchaosError, UsageProblem
from rocketchaos.harness.core.run_folder import runs_folder
from rocketchaos.harness.nightly.document import text_of
from rocketchaos.harness.nightly.shrink import PATIENCE
from rocketchaos.harness.nightly.smallest import Effort, Smallest, chosen, options_of, reproduce_command
from rocketchaos.harness.nightly.stated import StatedFinding, of_night
from rocketchaos.harness.nightly.status import NAME as STATUS_FILE
from rocketchaos.harness.plan.library import SUFFIX
from rocketchaos.harness.reporting.folder import load_report

WAY_OUT = "Choose another --out."
CandidateRunsOption = Annotated[
    Path | None,
    typer.Option(
        "--runs",
        metavar="FOLDER",
        help="Where the runs of candidates go. Default: ROCKETCHAOS_RUNS or ./runs, and `-shrinking`.",
    ),
]


def shrink(
    what: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|NIGHT",
            help="The folder of a run that shows a finding; or a night's nightly-status.json, or its folder.",
        ),
    ],
    finding: Annotated[
        str,
        typer.Option(
            "--finding",
            metavar="TEXT",
            help="The finding, by a part of its code or words. Default: a run's first; all new ones of a night.",
        ),
    ] = "",
    repeat: Annotated[
        int,
        typer.Option(
            "--repeat",
            min=1,
            help="Runs of each candidate; more if the finding is a race.",
        ),
    ] = 3,
    minutes: Annotated[
        float,
        typer.Option(
            "--minutes",
            min=LEAST_MINUTES,
            max=MOST_MINUTES,
            help="The time limit for each finding; then the smallest scenario so far is written.",
        ),
    ] = 20.0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE|FOLDER",
            help="The scenario file to write; for a night the folder for them. Default: NAME.scenario.yaml, "
            "here; for a night `findings`, next to its status file; with an `app`, next to the original.",
        ),
    ] = None,
    runs: CandidateRunsOption = None,
) -> ExitCode:
    """Reduce a finding to the smallest scenario that still shows it, and write a readable file.

    It tries fewer members, topics, steps, messages, queues, faults, shorter waits. Each candidate runs, and must
    show the finding as often as the original does. With a night, it shrinks all findings that aren't known, one
    after the other. It starts with the shortest run that shows the finding, and takes the next one if that run
    doesn't show it again.
    """
    effort, folder = Effort(repeat, minutes), runs or _beside(runs_folder())
    status = what / STATUS_FILE if what.is_dir() else what
    if status.is_file():
        return _shrink_all(of_night(status, finding), out, status.parent / "findings", effort, folder)
    text = _shrink_one(what, finding, lambda search: out or _place(None, Path())(search), effort, folder)
    OUT.print(text)
    return ExitCode.AS_EXPECTED


def _place(out: Path | None, usual: Path) -> Callable[[Smallest], Path]:
    """Where the smallest scenario goes: into `out`, or to where its `app` is found."""

    def file_of(search: Smallest) -> Path:
        return (out or search.programs_folder or usual) / f"{search.name}{SUFFIX}"

    return file_of


def _beside(runs: Path) -> Path:
    """The folder for candidates' runs: smaller scenarios of a night's are none of the night's."""
    return Path(f"{runs}-shrinking")


def _shrink_one(
    run: Path, finding: str, file_of: Callable[[Smallest], Path], effort: Effort, runs: Path
) -> str:
    """Shrink a run's finding into the file that `file_of` gives, and return the summary of it.

    An interruption leaves the smallest one so far in the file, with a note, and is raised again.
    """
    report = load_report(run)
    wanted = chosen(report, finding)
    OUT.print(f"shrinking: {wanted.title}")
    with Progress() as progress:
        options = options_of(report, runs, progress)
        search = Smallest(report, wanted, effort, options)
        file = file_of(search)
        require_writable(file, WAY_OUT)
        try:
            shrunk = search.run()
        except BaseException as end:
            progress.stop()
            so_far = search.so_far()
            if so_far is not None:
                write_text(file, text_of(so_far), WAY_OUT)
                note = f"Wrote {file}: the smallest one so far that shows it; its checks were not measured"
                ERR.print(note)
                end.add_note(note)
            raise
    write_text(file, text_of(shrunk.document), WAY_OUT)
    return f"{shrunk.sentence}\nWrote {file}: {reproduce_command(file, options)}"


def _shrink_stated(
    stated_finding: StatedFinding, file_of: Callable[[Smallest], Path], effort: Effort, runs: Path
) -> str:
    """Shrink a finding of a night, from the shortest of its runs that shows it again; else as `_shrink_one`.

    A race in one scenario may be certain in another: the runs that are spent on one that never shows it again
    are shared among several, and so is the time.
    """
    originals = stated_finding.runs[:PATIENCE]
    effort = replace(effort, patience=PATIENCE // len(originals))
    ends_s, problems = time.monotonic() + effort.minutes * 60, list[RocketchaosError]()
    for original in originals:
        minutes = (ends_s - time.monotonic()) / 60
        if problems and minutes < LEAST_MINUTES:
            break
        left = replace(effort, minutes=minutes)
        try:
            return _shrink_one(original, stated_finding.code, file_of, left, runs)
        except (PreconditionNotMet, UsageProblem) as problem:
            problems.append(problem)
    if len(problems) == 1:
        raise problems[0]
    sentences = (
        f"{run.parent.name}: {problem.message}" for run, problem in zip(originals, problems, strict=False)
    )
    raise PreconditionNotMet("; ".join(sentences), "Raise --repeat, and --minutes.")


def _shrink_all(
    wanted: Sequence[StatedFinding], out: Path | None, usual: Path, effort: Effort, runs: Path
) -> ExitCode:
    """Shrink each into a folder, see `_place`; returns the most severe exit code."""
    if not wanted:
        OUT.print("nothing to shrink: the night has no finding that isn't known")
        return ExitCode.AS_EXPECTED
    require_folder(out or usual, WAY_OUT)
    results = {item.code: "not shrunk: the time was up before it started" for item in wanted}
    codes: list[ExitCode] = []
    try:
        for stated_finding in wanted:
            try:
                results[stated_finding.code] = _shrink_stated(
                    stated_finding, _place(out, usual), effort, runs
                )
            except RocketchaosError as problem:
                results[stated_finding.code] = "\n".join([f"not shrunk: {problem}", *_notes(problem)])
                codes.append(problem.exit_code)
            except KeyboardInterrupt as end:
                results[stated_finding.code] = "\n".join(["not shrunk: interrupted", *_notes(end)])
                raise
    finally:
        for code, text in results.items():
            OUT.print(f"\n{code}\n{indent(text, '  ')}")
    return ExitCode.gravest(codes)


def _notes(end: BaseException) -> list[str]:
    return list(getattr(end, "__notes__", ()))
