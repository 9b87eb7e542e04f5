"""`CLAIMS.md`: every claim with its verdict per version, and links to the events on which it stands."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from rocketchaos.harness.claims.registry import VERSIONS, Claim
from rocketchaos.harness.claims.statement import said
from rocketchaos.harness.claims.verdicts import Proof, Verdict, VerdictKind
from rocketchaos.harness.reporting.parts.markdown import cell, code

GROUPS: Mapping[str, str] = {
    "A": "The group's subscription at the broker",
    "B": "The experiment with two tags",
    "C": "Tracks and dashboards",
    "D": "Same group, different topics",
    "E": "Filtering",
    "F": "The flow of a pull",
    "G": "Offsets, retries, dead letters",
    "H": "Other clients, POP, the proxy",
    "I": "The Go client",
}
PROOFS_AT_MOST = 2
"""At most this many checks of a verdict are linked, of different scenarios where there are several."""
EVENTS_AT_MOST = 4

_HEAD = """\
# Claims about RocketMQ, and what was measured

Made by `rocketchaos claims table` from the evidence of runs: don't edit it here. People wrote only the
claims and the descriptions of what really happens, in [`claims.yaml`]({registry}).
`rocketchaos claims run --only A01` measures a claim again.
"""
Verdicts = Mapping[tuple[str, str], Verdict]

_NO_RUN = (VerdictKind.UNMEASURED, VerdictKind.NOT_APPLICABLE)


def claims_table(
    claims: Mapping[str, Claim],
    verdicts: Verdicts,
    *,
    why_no_run: Callable[[str, str], tuple[VerdictKind, str]],
    evidence: str,
    registry: str,
    brief: bool = False,
) -> str:
    """The whole file.

    Args:
        claims: those to show, by their ids.
        verdicts: what was measured.
        why_no_run: of a claim and a version without a run: the word for it, and the reason.
        evidence: the folder of evidence, as seen from the file.
        registry: the file of claims, as seen from the file.
        brief: one line for the verdicts of a claim, without the runs and events that prove them.
    """
    versions = tuple(dict.fromkeys((*VERSIONS, *sorted({version for _, version in verdicts}))))
    rows = {
        name: [
            verdicts.get((name, version)) or Verdict(name, version, *why_no_run(name, version))
            for version in versions
        ]
        for name in claims
    }
    parts = [_HEAD.format(registry=registry), *_counts(rows, versions), *_findings(claims, rows)]
    for letter, names in groupby(claims, key=lambda name: name[0]):
        parts.append(f"## {letter}. {GROUPS.get(letter, 'Others')}\n")
        parts += [_claim(name, claims[name], rows[name], None if brief else evidence) for name in names]
    return "\n".join(parts)


def _counts(rows: Mapping[str, Sequence[Verdict]], versions: Sequence[str]) -> Iterator[str]:
    yield "\n".join(f"- **{kind}**: {kind.meaning}" for kind in VerdictKind) + "\n"
    lines = ["| version | " + " | ".join(VerdictKind) + " |", "|---|" + "---:|" * len(VerdictKind)]
    for index, version in enumerate(versions):
        counts = Counter(own[index].kind for own in rows.values())
        lines.append(f"| {version} | " + " | ".join(str(counts[kind]) for kind in VerdictKind) + " |")
    yield "\n".join([*lines, ""])


def _findings(claims: Mapping[str, Claim], rows: Mapping[str, Sequence[Verdict]]) -> Iterator[str]:
    """The findings that come first: wrong statements, wrong predictions, open questions."""
    refuted = {
        name: [item.version for item in own if item.kind is VerdictKind.REFUTED] for name, own in rows.items()
    }
    yield from _listed(
        "Refuted",
        [f"{_link(name)} ({', '.join(own)}): {claims[name].claim}" for name, own in refuted.items() if own],
    )
    yield from _listed(
        "Predictions that the runs contradict",
        [
            f"{_link(name)} on {item.version}: {predicted} was predicted, {item.kind} was measured"
            for name, own in rows.items()
            for item in own
            if (predicted := claims[name].predicted_for(item.version)) is not None
            and item.kind not in _NO_RUN
            and item.kind.value != predicted
        ],
    )
    # A claim of 5.x has no verdict on 4.9.x: open is what has none anywhere; each version has its reason below.
    yield from _listed(
        "Open",
        [
            f"{_link(name)}: {cell(min((item.reason for item in own), key=len))}"
            for name, own in rows.items()
            if all(item.kind in _NO_RUN for item in own) and not claims[name].unobservable
        ],
    )


def _listed(heading: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"## {heading} ({len(lines)})\n"
        yield "\n".join(f"- {line}" for line in lines) + "\n"


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def _claim(name: str, claim: Claim, own: Sequence[Verdict], evidence: str | None) -> str:
    lines = [f"### {name}\n", f"{cell(claim.claim)}\n", f"- **What is said**: {cell(said(claim))}"]
    if claim.really:
        lines.append(f"- **What really happens**: {cell(claim.really)}")
    if claim.unobservable:
        lines.append(f"- **Nothing public can observe it**: {cell(claim.unobservable)}")
        return "\n".join([*lines, ""])
    if evidence is None:
        return "\n".join([*lines, f"- **Measured**: {_in_a_line(own)}", ""])
    lines += ["", "| version | verdict | runs | evidence |", "|---|---|---:|---|"]
    for verdict in own:
        proof = "; ".join(_proof(part, evidence) for part in chosen(verdict.proofs)) or cell(verdict.reason)
        if verdict.kind in (VerdictKind.DISTRIBUTION, VerdictKind.CONTRADICTORY):
            proof = f"{cell(verdict.reason)}; {proof}"
        if verdict.not_counted and verdict.kind is not VerdictKind.UNMEASURED:
            proof += (
                f"; {len(verdict.not_counted)} more that count nowhere: {cell(verdict.not_counted[0][1])}"
            )
        lines.append(f"| {verdict.version} | {_strong(verdict.kind)} | {len(verdict.runs)} | {proof} |")
    return "\n".join([*lines, ""])


def _in_a_line(own: Sequence[Verdict]) -> str:
    """Equal verdicts together, with the number of runs: `confirmed on 4.9.4, 5.5.0 (11 runs)`."""
    by_kind: dict[VerdictKind, list[Verdict]] = {}
    for verdict in own:
        by_kind.setdefault(verdict.kind, []).append(verdict)
    return "; ".join(
        f"{_strong(kind)} on {', '.join(item.version for item in alike)}"
        + (f" ({runs} runs)" if (runs := sum(len(item.runs) for item in alike)) else "")
        for kind, alike in by_kind.items()
    )


def _strong(kind: VerdictKind) -> str:
    return kind.value if kind in (VerdictKind.CONFIRMED, *_NO_RUN) else f"**{kind}**"


def chosen(proofs: Sequence[Proof]) -> list[Proof]:
    """The first ones that differ in scenario, or in check, and of which events are there."""
    found: dict[tuple[str, ...], Proof] = {}
    for key in (lambda item: (item.run.scenario,), lambda item: (item.run.scenario, item.check.key)):
        for proof in sorted(proofs, key=lambda item: not _lines(item)):
            if len(found) < PROOFS_AT_MOST and proof not in found.values():
                found.setdefault(key(proof), proof)
    return list(found.values())


def _lines(proof: Proof) -> list[tuple[int, int]]:
    """The number and the line of each event that is there."""
    lines = proof.run.lines
    return [(number, lines[number]) for number in proof.check.events if number in lines]


def _proof(proof: Proof, evidence: str) -> str:
    run, check = proof.run, proof.check
    file = f"{evidence}/{run.rocketmq}/{run.scenario}.jsonl"
    events = [f"[{number}]({file}#L{line})" for number, line in _lines(proof)[:EVENTS_AT_MOST]]
    cited = f", events {', '.join(events)}" if events else ""
    if check.cited > len(events) > 0:
        cited += f" ({check.cited} in all)"
    text = f"{check.name}: {check.observed}"
    return f"[{code(run.run)}]({file}): {cell(text)}{cited}"
