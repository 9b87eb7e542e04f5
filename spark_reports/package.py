"""A zip for `spark-submit --py-files`: our packages, and the pure Python ones that they need.

A zip can't bring packages with compiled parts: msgspec, Pydantic and, for reports, deltalake, PyArrow and SciPy
must be in the Python of the driver.
Executors need none of this, because they run no Python code of rocketchaos.
"""

import importlib.metadata
import shlex
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import rocketchaos
from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.jars.bundles import Progress, jars
from rocketchaos.spark_reports import file_systems, requirements
from rocketchaos.spark_reports.spark_session import LOG4J

_ROOMS = ("harness", "assertions", "spark_reports")
_NEEDED = (
    "delta-spark", "jinja2", "packaging", "platformdirs", "plotly", "pyyaml", "requests", "rich", "tenacity",
    "typer",
)  # fmt: skip
_OF_SPARK = frozenset({"pyspark", "py4j"})
# Bound to the very version of its compiled part.
_LEFT_TO_THE_DRIVER = frozenset({"msgspec", "pydantic"})
# They do without their compiled part.
_ALSO_PURE = frozenset({"charset-normalizer", "markupsafe", "pyyaml"})
_COMPILED = (".so", ".pyd", ".dylib")
_MAIN = Path(rocketchaos.__file__).parent / "harness" / "cli" / "submitted.py"
# The same content gives the same zip.
_STAMP = (2020, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Package:
    """The files of the package."""

    zip: Path
    script: Path
    logging: Path
    """The log settings of Spark's driver for the terminal: only errors."""
    command: str
    """That submits it, with Delta's jars, and those of the store's file system, of this machine's cache."""


def make_package(out: Path, progress: Progress, store: str | None = None) -> Package:
    """Write the zip, and next to it the script to submit, and what keeps Spark's noise from the terminal.

    Args:
        out: the zip.
        progress: called with a few words before anything that takes time.
        store: the URI of the store, whose file system may need jars; None: it needs none.

    Raises:
        UsageProblem: it isn't called a zip.
        EnvironmentNotReady: they can't be written, a package is missing, or Delta's jars can't be fetched.
    """
    if out.suffix != ".zip":
        raise UsageProblem(f"a package is a zip: {out}", "Give another --out, such as rocketchaos-spark.zip.")
    of_store = file_systems.needed([store] if store else [])
    found = [
        *jars(requirements.delta(), progress),
        *(jar for item in of_store for jar in item.jars(progress)),
    ]
    progress("packing")
    script, logging = out.with_suffix(".py"), out.with_suffix(".log4j2.properties")
    part = out.with_name(f".{out.name}.part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, file in sorted({**dict(_theirs()), **dict(_own())}.items()):
                archive.writestr(zipfile.ZipInfo(name, _STAMP), file.read_bytes(), zipfile.ZIP_DEFLATED)
        part.replace(out)
        script.write_bytes(_MAIN.read_bytes())
        logging.write_text(LOG4J.read_text("utf-8").replace("level = warn", "level = error"), "utf-8")
    except OSError as error:
        raise EnvironmentNotReady(
            f"the package can't be written: {error.strerror or error}: {out}",
            "Choose another place with --out.",
        ) from error
    finally:
        part.unlink(missing_ok=True)
    names = ",".join(map(str, found))
    # As a URI, which has no space: Spark's scripts take these options apart at spaces.
    quiet = f"-Dlog4j2.configurationFile={logging.absolute().as_uri()}"
    options = {"--master": "MASTER", "--driver-java-options": quiet, "--jars": names, "--py-files": str(out)}
    words = [word for option in options.items() for word in option]
    command = shlex.join(["spark-submit", *words, str(script)])
    return Package(out, script, logging, f"{command} ingest RUNS --store {shlex.quote(store or 'URI')}")


def _own() -> Iterator[tuple[str, Path]]:
    package = Path(rocketchaos.__file__).parent
    yield f"{package.name}/__init__.py", package / "__init__.py"
    for room in _ROOMS:
        for file in (package / room).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                yield file.relative_to(package.parent).as_posix(), file


def _theirs() -> Iterator[tuple[str, Path]]:
    """Files of the packages that ours need, and of those that these need, except for what is compiled."""
    wanted, seen = list(_NEEDED), set[str]()
    while wanted:
        name = canonicalize_name(wanted.pop())
        if name in seen or name in _OF_SPARK | _LEFT_TO_THE_DRIVER:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError as error:
            raise EnvironmentNotReady(
                f"the package `{name}` is not installed", "pip install 'rocketmq-chaos-harness[reports]'."
            ) from error
        wanted += [item.name for item in map(Requirement, distribution.requires or ()) if _applies(item)]
        files = distribution.files or ()
        if name not in _ALSO_PURE and any(file.suffix in _COMPILED for file in files):
            # Half of it would hide the whole one that the driver has.
            continue
        for file in files:
            if _is_packed(file):
                yield file.as_posix(), Path(str(distribution.locate_file(file)))


def _applies(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def _is_packed(file: PurePosixPath) -> bool:
    within = file.parts[0] not in ("..", "bin", "share", "etc") and "__pycache__" not in file.parts
    # Some ask for their own version, as plotly does, when they are imported.
    needed = file.name == "METADATA" or not file.parts[0].endswith(".dist-info")
    return within and needed and file.suffix not in _COMPILED
