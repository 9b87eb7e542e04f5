"""What the tests of harness.spec start from."""

from __future__ import annotations

from pathlib import Path

SCENARIOS = Path(__file__).parents[3] / "scenarios"
SHIPPED = sorted(SCENARIOS.rglob("*.scenario.yaml"))
VALID = (SCENARIOS / "tags" / "same-group-different-tags.scenario.yaml").read_text("utf-8")


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
