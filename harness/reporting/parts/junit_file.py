"""The file of `--junit`."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from rocketchaos.harness.core.errors import EnvironmentNotReady


def write_junit_file(suites: ElementTree.Element, file: Path) -> None:
    """Write the element `testsuites`, indented.

    Raises:
        EnvironmentNotReady: it can't be written.
    """
    tree = ElementTree.ElementTree(suites)
    ElementTree.indent(tree)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        tree.write(file, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise EnvironmentNotReady(
            f"{file} can't be written: {error.strerror}", "Choose another file with --junit."
        ) from error
