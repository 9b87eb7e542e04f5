"""The expected verdicts, `scenarios/expected-verdicts.yaml`: those of the last measurement."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import yaml

from rocketchaos.harness.claims.verdicts import Verdict, VerdictKind
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.plan.library import scenarios_folder

FILE = "expected-verdicts.yaml"
_HEAD = """\
# The verdict of each claim by version, as measured; made by `rocketchaos claims table --verdicts FILE`.
# A change of RocketMQ, or of a scenario, shows here first. A pair that is missing here is not measured.

"""
Expected = Mapping[tuple[str, str], VerdictKind]


def read_expected(path: Path | None = None) -> Expected:
    """The expected verdict of each claim and version.

    Raises:
        UsageProblem: the file is missing or broken.
    """
    path = path or scenarios_folder() / FILE
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        return {
            (str(claim), str(version)): VerdictKind(kind)
            for claim, own in content.items()
            for version, kind in own.items()
        }
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValueError, AttributeError) as error:
        raise UsageProblem(
            f"{path} has no expected verdicts: {error}",
            "`rocketchaos claims table --verdicts FILE` makes it.",
        ) from error


@cache
def _shipped() -> Expected:
    return read_expected()


def measured_text(claim: str) -> str:
    """`Measured: refuted (4.9.4, 5.5.0).`; empty if nothing is."""
    found: dict[VerdictKind, list[str]] = {}
    for (name, version), kind in _shipped().items():
        if name == claim:
            found.setdefault(kind, []).append(version)
    text = ", ".join(f"{kind} ({', '.join(own)})" for kind, own in found.items())
    return f"Measured: {text}." if text else ""


def expected_text(verdicts: Iterable[Verdict]) -> str:
    """The file; unmeasured pairs are left out."""
    rows: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.kind is not VerdictKind.UNMEASURED:
            rows.setdefault(verdict.claim, []).append(f'"{verdict.version}": {verdict.kind}')
    return _HEAD + "".join(f"{claim}: {{{', '.join(own)}}}\n" for claim, own in sorted(rows.items()))


def unexpected(verdicts: Iterable[Verdict], expected: Expected) -> list[str]:
    """Verdicts that are not the expected ones, a line each; pairs without a new measurement are left out."""
    return [
        f"{verdict.claim} on {verdict.version}: {verdict.kind}, "
        f"expected {expected[verdict.claim, verdict.version]}: {verdict.reason}"
        for verdict in verdicts
        if verdict.kind is not VerdictKind.UNMEASURED
        and (verdict.claim, verdict.version) in expected
        and verdict.kind is not expected[verdict.claim, verdict.version]
    ]
