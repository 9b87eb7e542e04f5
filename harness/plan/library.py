"""The scenarios that come with rocketchaos."""

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

import rocketchaos
from rocketchaos.harness.core.errors import UsageProblem

SUFFIX = ".scenario.yaml"


def scenarios_folder() -> Path:
    """Where they are: in the package, or in a checkout next to it."""
    return (Path(rocketchaos.__file__).parent / "scenarios").resolve()


def shipped() -> dict[str, Path]:
    """Every shipped scenario by its name, which is its file's."""
    return {path.name.removesuffix(SUFFIX): path for path in sorted(scenarios_folder().rglob(f"*{SUFFIX}"))}


def find(name_or_path: str) -> Path:
    """The file of a shipped scenario by its name, or the file that the text names.

    Raises:
        UsageProblem: there is neither.
    """
    path = Path(name_or_path)
    if path.exists():
        return path
    known = shipped()
    if name_or_path in known:
        return known[name_or_path]
    near = difflib.get_close_matches(name_or_path, known, n=1)
    what = "file" if "/" in name_or_path or name_or_path.endswith((".yaml", ".yml")) else "scenario or file"
    raise UsageProblem(
        f"there is no {what} `{name_or_path}`" + (f"; did you mean `{near[0]}`?" if near else ""),
        "`rocketchaos list` shows the scenarios that come with it.",
    )


def scenario_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Files as they are, folders with every `*.scenario.yaml` below them, in order.

    Raises:
        UsageProblem: a path isn't there, or a folder has no scenario.
    """
    for path in paths:
        if path.is_dir():
            found = sorted(path.rglob(f"*{SUFFIX}"))
            if not found:
                others = sorted(path.rglob("*.yaml"))
                raise UsageProblem(
                    f"there is no *{SUFFIX} below {path}",
                    f"In a folder only files with that ending are scenarios: rename {others[0].name}, or "
                    "give it by its own path."
                    if others
                    else "",
                )
            yield from found
        else:
            yield path
