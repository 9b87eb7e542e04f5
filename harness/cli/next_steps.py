"""`rocketchaos` alone: what to do next."""

import rocketchaos
from rocketchaos.harness.cli.terminal import OUT

NEXT_STEPS = (
    ("See messages get lost", "rocketchaos reproduce same-group-different-tags"),
    ("Find what you see", "rocketchaos symptoms CONSUMED_BUT_FILTERED"),
    ("Browse the scenarios", "rocketchaos list"),
    ("Write your own", "rocketchaos new mine"),
    ("Examine a live cluster", "rocketchaos diagnose --namesrv HOST:9876"),
    ("Check this machine", "rocketchaos doctor"),
    ("All commands", "rocketchaos --help"),
    ("Complete them with Tab", "rocketchaos --install-completion"),
)
"""Aims of users, each with its command. A test parses each command."""


def show_next_steps() -> None:
    """Print them, in 80 columns."""
    width = max(len(wish) for wish, _ in NEXT_STEPS)
    lines = [f"  {wish:{width}}  {command}" for wish, command in NEXT_STEPS]
    OUT.print(
        f"rocketchaos {rocketchaos.__version__} runs a real RocketMQ, and shows what becomes of every message.\n"
    )
    OUT.print("\n".join(lines))
