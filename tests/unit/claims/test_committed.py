"""What is committed: CLAIMS.md, its evidence, and the expected verdicts agree, and every link leads somewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

from rocketchaos.harness.claims.evidence import read_evidence
from rocketchaos.harness.claims.expected_verdicts import expected_text, read_expected
from rocketchaos.harness.claims.verdicts import verdicts
from rocketchaos.harness.cli.claims import claims_text
from rocketchaos.harness.cli.main import main
from rocketchaos.harness.plan.library import scenarios_folder

ROOT = Path(__file__).resolve().parents[3]
EVIDENCE = scenarios_folder() / "evidence"
ANEW = "run: rocketchaos claims table --brief --out CLAIMS.md --verdicts scenarios/expected-verdicts.yaml"


def test_the_table_is_made_from_the_evidence(tmp_path: Path) -> None:
    # Beside the committed one, so that its links are the same.
    made = ROOT / f".{tmp_path.name}.md"
    try:
        assert main(["claims", "table", "--brief", "--out", str(made)]) == 0
        assert (ROOT / "CLAIMS.md").read_text("utf-8") == made.read_text("utf-8"), ANEW
    finally:
        made.unlink(missing_ok=True)


def test_the_table_is_short_enough_to_read() -> None:
    assert len((ROOT / "CLAIMS.md").read_text("utf-8")) < 100_000


def test_every_link_of_the_pages_leads_to_its_event_or_file() -> None:
    text = claims_text(verdicts(read_evidence(EVIDENCE)), ROOT / "CLAIMS.md", EVIDENCE)
    lines: dict[str, list[str]] = {}
    for number, file, line in re.findall(r"\[(\d+)\]\(([^)#]+)#L(\d+)\)", text):
        own = lines.setdefault(file, (ROOT / file).read_text("utf-8").splitlines())
        assert json.loads(own[int(line) - 1])["n"] == int(number), (file, line)
    assert lines
    for file in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / file).is_file(), file
    names = set(re.findall(r"^### (\w+)$", text, re.MULTILINE))
    assert {name.upper() for name in re.findall(r"\]\(#(\w+)\)", text)} <= names


def test_the_expected_verdicts_are_those_of_the_evidence() -> None:
    found = verdicts(read_evidence(EVIDENCE))
    written = (scenarios_folder() / "expected-verdicts.yaml").read_text("utf-8")
    assert written == expected_text(found.values()), ANEW
    assert len(read_expected()) > 0


def test_the_evidence_tells_nothing_of_the_machine() -> None:
    absolute = re.compile(r'"/[\w.-]+/')
    telling = [path for path in EVIDENCE.rglob("*.jsonl") if absolute.search(path.read_text("utf-8"))]
    assert telling == []


def test_the_evidence_is_small() -> None:
    assert sum(path.stat().st_size for path in EVIDENCE.rglob("*.jsonl")) < 3_000_000
