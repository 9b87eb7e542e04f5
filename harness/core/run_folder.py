"""The run folder: the only thing that the halves of rocketchaos share.

``runs/<scenario>/<time>-<seed>/``, with a link `latest` next to it:

==================  ================================================================================
`scenario.yaml`     the scenario, as it was read
`run.json`          versions, seed, timing, host, names, attempts; in `timers_ms` RocketMQ's timers that held, by
                    the names of `harness.rocketmq.timers` (older folders lack it); `load` while it ran, in
                    `parallel` what let it begin, with how many others, in `nightly` what a night found
`events.jsonl`      the history, line by line
`messages.jsonl`    one line per message and group: class, owner, stored subscription, proof, what witnesses say
`checks.json`       the findings
`outcome.json`      the verdict
`facts.jsonl`       what many runs are compared by: typed facts (`harness.facts.kinds`, `docs/facts.md`), with
                    digests of their source files; older folders lack it, and those that are not fit
`logs/`             logs of workers and servers
`START-HERE.md`     the verdict in words, and where to read on
`report.html`       the same with pictures, in one offline file
==================  ================================================================================

`messages.jsonl`, `checks.json`, `outcome.json`, `facts.jsonl`, `START-HERE.md` and `report.html` are made from the
first three (facts also from the logs, of a run that is not as expected), and can be made again by
`rocketchaos check`. Every JSON document, and every line but those of facts, has a `schema_version`; facts have the
version that their last line tells.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.core.history import ReadHistory, read_history
from rocketchaos.harness.core.model import SCHEMA_VERSION, MessageFate, Outcome

DEFAULT_RUNS = Path("runs")


def runs_folder() -> Path:
    """Where run folders go: `ROCKETCHAOS_RUNS`, otherwise `runs` in the current folder."""
    return Path(os.environ.get("ROCKETCHAOS_RUNS") or DEFAULT_RUNS)


_WHERE_RUNS_ARE = "Run folders are runs/<scenario>/<time>-<seed>; `latest` there is the newest."


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run on disk."""

    path: Path

    @classmethod
    def create(cls, runs: Path, scenario: str, seed: int) -> RunFolder:
        """A new folder; two runs never share one, even where they start in the same millisecond.

        Raises:
            EnvironmentNotReady: it can't be made.
        """
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")[:-3]
        parent = runs / scenario
        try:
            parent.mkdir(parents=True, exist_ok=True)
            for number in range(1, 1000):
                path = parent / (f"{now}-{seed}" if number == 1 else f"{now}-{seed}-{number}")
                try:
                    path.mkdir()
                except FileExistsError:
                    continue
                (path / "logs").mkdir()
                return cls(path.resolve())
        except OSError as error:
            raise EnvironmentNotReady(
                f"no run folder can be made in {parent}: {error.strerror}",
                "Choose another place with --runs or ROCKETCHAOS_RUNS.",
            ) from error
        raise EnvironmentNotReady(f"no run folder can be made in {parent}: too many of the same name")

    @classmethod
    def existing(cls, path: Path) -> RunFolder:
        """The folder of an earlier run.

        Raises:
            UsageProblem: it is none.
        """
        if not path.exists():
            raise UsageProblem(f"there is no run folder {path}", _WHERE_RUNS_ARE)
        missing = [name for name in ("scenario.yaml", "events.jsonl") if not (path / name).is_file()]
        if missing:
            raise UsageProblem(
                f"{path} is no run folder: it has no {' and no '.join(missing)}",
                _WHERE_RUNS_ARE,
            )
        return cls(path.resolve())

    @property
    def events_path(self) -> Path:
        """`events.jsonl`."""
        return self.path / "events.jsonl"

    @property
    def scenario_path(self) -> Path:
        """`scenario.yaml`."""
        return self.path / "scenario.yaml"

    @property
    def logs(self) -> Path:
        """The folder of logs."""
        return self.path / "logs"

    def read_events(self) -> ReadHistory:
        """The history, as far as it can be read."""
        return read_history(self.events_path)

    def read_json(self, name: str) -> dict[str, Any]:
        """A JSON document of the folder; empty where it is missing or broken."""
        try:
            document = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return document if isinstance(document, dict) else {}

    def write_text(self, name: str, text: str) -> None:
        """Write a file whole or not at all."""
        target, draft = self.path / name, self.path / f".{name}.draft"
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(target)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise EnvironmentNotReady(
                f"{target} can't be written: {error.strerror}",
                "Free some disk space, or choose another place with --runs or ROCKETCHAOS_RUNS.",
            ) from error

    def write_json(self, name: str, document: Mapping[str, Any]) -> None:
        """Write a JSON document with its schema version."""
        text = json.dumps({"schema_version": SCHEMA_VERSION, **document}, indent=2, ensure_ascii=False)
        self.write_text(name, text + "\n")

    def write_outcome(self, outcome: Outcome) -> None:
        """Write `messages.jsonl`, `checks.json` and `outcome.json`."""
        self.write_text("messages.jsonl", "".join(_lines(map(message_document, outcome.messages))))
        self.write_json(
            "checks.json",
            {
                "checks": [
                    {**asdict(finding), "passed": {"yes": True, "no": False}.get(finding.holds)}
                    for finding in outcome.findings
                ]
            },
        )
        self.write_json(
            "outcome.json",
            {
                "outcome": outcome.kind,
                "expected": outcome.expected,
                "as_expected": outcome.as_expected,
                "reason": outcome.reason,
                "trouble": outcome.trouble,
            },
        )

    def link_latest(self) -> None:
        """Let `latest`, next to the folder, point to it. Best effort: some file systems have no links."""
        link, draft = self.path.parent / "latest", self.path.parent / f".latest-{self.path.name}"
        try:
            draft.symlink_to(self.path.name)
            draft.replace(link)
        except OSError:
            draft.unlink(missing_ok=True)


def message_document(fate: MessageFate) -> dict[str, Any]:
    """What a line of `messages.jsonl` says of a message; how long a run would wait for it is no part of that."""
    return {name: value for name, value in asdict(fate).items() if name != "not_before_ns"}


def _lines(documents: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for document in documents:
        yield json.dumps({"schema_version": SCHEMA_VERSION, **document}, ensure_ascii=False) + "\n"
