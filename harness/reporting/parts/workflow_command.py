"""Workflow commands of GitHub Actions: a line of a job's log that makes an annotation."""

from collections.abc import Mapping

from rocketchaos.harness.core.text import printable


def workflow_command(level: str, properties: Mapping[str, str], text: str) -> str:
    """The line for `error` or `notice`; properties without a value are left out.

    Escaped as `@actions/core` does (`packages/core/src/command.ts`).
    """
    fields = ",".join(
        f"{name}={_escape_property(value)}" for name, value in sorted(properties.items()) if value
    )
    return f"::{level} {fields}::{_escape(printable(text, keep=chr(10)))}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
