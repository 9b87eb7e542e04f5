"""The page of all codes, `docs/codes.md`, made from the registries that define them.

To update it after a change: `python -m rocketchaos.harness.reference.codes > docs/codes.md`.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import MessageClass, OutcomeKind
from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.nightly.codes import CODES as NIGHT_CODES
from rocketchaos.harness.reporting.parts.markdown import cell
from rocketchaos.harness.rocketmq.response_codes import CODES as RESPONSE_CODES

WHAT_TO_DO: Mapping[ExitCode, str] = {
    ExitCode.AS_EXPECTED: "Nothing.",
    ExitCode.NOT_AS_EXPECTED: "Open `report.html` in the run's folder. In CI: fail the build.",
    ExitCode.USAGE: "Read the message: it names the place and the way out. Nothing was started.",
    ExitCode.INCONCLUSIVE: "Read the reason; run it again on a less busy machine, or raise the limit.",
    ExitCode.ENVIRONMENT: "Read the message, and run `rocketchaos doctor`. It says nothing about RocketMQ.",
    ExitCode.HARNESS: "A defect of rocketchaos: report it, with the run's folder.",
    ExitCode.INTERRUPTED: "Ctrl-C. Everything that it started has stopped; the history so far can be read.",
    ExitCode.TERMINATED: "SIGTERM. Everything that it started has stopped; the history so far can be read.",
}
"""The way on from each exit code."""

_OPENING = """\
# Codes

Made from the registries by `python -m rocketchaos.harness.reference.codes`: don't edit it. Codes are never
renamed, and never get another meaning. `rocketchaos explain CODE` explains an exit code or a code of `diagnose`.
"""
_GRAVEST = """\
If several runs end differently, the most severe code counts: 70, 2, 4, 1, 3, 0 in this order. `diagnose` has
[meanings of its own](diagnose.md) for 0 to 4.
"""


def codes_reference() -> str:
    """The whole page, in Markdown."""
    parts = [
        _OPENING,
        "## Exit codes\n",
        _table(
            ("code", "meaning", "what to do"),
            ((f"{int(code)}", code.meaning, WHAT_TO_DO[code]) for code in ExitCode),
        ),
        _GRAVEST,
        "## Outcomes of a run\n",
        _table(("outcome", "meaning"), ((f"`{kind}`", kind.meaning) for kind in OutcomeKind)),
        "## Classes of a message\n",
        _table(("class", "meaning"), ((f"`{kind}`", kind.meaning) for kind in MessageClass)),
        "## Findings in a live cluster\n",
        "Of `rocketchaos diagnose`, which has a [page with causes and remedies](diagnose.md).\n",
        _table(
            ("code", "level", "what is wrong"),
            (
                (f"[{code}](diagnose.md#{code.lower()})", str(check.level), cell(check.title))
                for code, check in CHECKS.items()
            ),
        ),
        "## Findings of nights\n",
        "Of `rocketchaos nightly`; `--known FILE` lists codes that do not fail the night.\n",
        _table(
            ("code", "rule that does not hold", "cause"),
            ((f"`{code}`", meaning.kind, cell(meaning.title)) for code, meaning in NIGHT_CODES.items()),
        ),
        "## Response codes of RocketMQ\n",
        "Those that a pull may get (`ResponseCode`, `RemotingSysResponseCode` of 4.9.4 and 5.3.3).\n",
        _table(("code", "name"), ((str(code), f"`{name}`") for name, code in RESPONSE_CODES.items())),
    ]
    return "\n".join(parts)


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(_lines(heads, rows)) + "\n"


def _lines(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield f"| {' | '.join(row)} |"


if __name__ == "__main__":
    sys.stdout.write(codes_reference())
