"""The verdicts that are expected, `scenarios/expected-verdicts.yaml`: what was measured last."""

from __future__ import annotations

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
# A change of RocketMQ, or of a scenario, shows here first. What isn't here is not measured.

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
    """`Measured: refuted (4.9.4, 5.5.0).`; empty where nothing is."""
    found: dict[VerdictKind, list[str]] = {}
    for (name, version), kind in _shipped().items():
        if name == claim:
            found.setdefault(kind, []).append(version)
    told = ", ".join(f"{kind} ({', '.join(own)})" for kind, own in found.items())
    return f"Measured: {told}." if told else ""


def expected_text(verdicts: Iterable[Verdict]) -> str:
    """The file; what is unmeasured is left out."""
    rows: dict[str, list[str]] = {}
    for one in verdicts:
        if one.kind is not VerdictKind.UNMEASURED:
            rows.setdefault(one.claim, []).append(f'"{one.version}": {one.kind}')
    return _HEAD + "".join(f"{claim}: {{{', '.join(own)}}}\n" for claim, own in sorted(rows.items()))


def unexpected(verdicts: Iterable[Verdict], expected: Expected) -> list[str]:
    """Verdicts that are not the expected ones, a line each; of what isn't measured now nothing is said."""
    return [
        f"{one.claim} on {one.version}: {one.kind}, expected {expected[one.claim, one.version]}: {one.reason}"
        for one in verdicts
        if one.kind is not VerdictKind.UNMEASURED
        and (one.claim, one.version) in expected
        and one.kind is not expected[one.claim, one.version]
    ]
