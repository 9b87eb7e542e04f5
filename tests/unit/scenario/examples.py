"""What the tests of harness.scenario start from."""

from __future__ import annotations

from pathlib import Path

SCENARIOS = Path(__file__).parents[3] / "scenarios"
SHIPPED = sorted(SCENARIOS.rglob("*.scenario.yaml"))
VALID = (SCENARIOS / "tags" / "same-group-different-tags.scenario.yaml").read_text("utf-8")


NESTED = VALID.replace(
    "  - start: a\n  - start: b\n",
    """\
  - repeat:
      times: 3
      steps:
        - start: [a, b]
        - observe: seen
        - parallel:
            - - bind: {first: {member-of: g, whose-subscription-is-stored-for: orders}}
              - kill: $first
            - send: {topic: orders, tag: tagA, count: 1}
            - [wait: 1s, stop: b, start: b]
        - kill: [a, b]
  - parallel: [start: a, start: b]
""",
).replace(
    "also:\n",
    """\
also:
  - outcome-distribution: {of: $first, consumer: b, share_at_least: 0.5}
  - track-series: {group: g, topic: orders, sequence: [NOT_CONSUME_YET, CONSUMED], at: seen-2}
""",
)
"""The same with steps inside steps."""
assert NESTED.count("parallel") == 2
assert "seen-2" in NESTED


def scenario_text(*steps: str, also: str = "[]") -> str:
    """A scenario with these steps, of consumers a and b in group g and c in group h."""
    lines = "".join(f"  - {step}\n" for step in steps)
    return (
        "name: example\n"
        "title: an example\n"
        "topics: {orders: {queues: 4}}\n"
        "consumers:\n"
        "  a: {group: g, subscribe: {orders: tagA}}\n"
        "  b: {group: g, subscribe: {orders: tagB}}\n"
        "  c: {group: h, subscribe: {orders: '*'}}\n"
        f"steps:\n{lines}"
        "anomaly: {delivered: {to: a, count: 1}}\n"
        "healthy: {delivered: {to: g, count: 8}}\n"
        f"also: {also}\n"
    )


FIRST_STEP_LINE = 9
