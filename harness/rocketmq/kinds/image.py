"""A program of the user's own in a container: seen from outside, as a `command` is."""

from dataclasses import replace

from rocketchaos.harness.rocketmq.kinds.command import COMMAND

IMAGE = replace(
    COMMAND,
    name="image",
    title="a container of your own, seen by what it prints",
    worker="image",
    program="image",
)
