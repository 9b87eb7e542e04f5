"""What the commands below `rocketchaos report` share: options, and a Spark with a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from rocketchaos.harness.cli.output_files import require_folder
from rocketchaos.harness.cli.terminal import Progress
from rocketchaos.harness.core.errors import UsageProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rocketchaos.spark_reports.duck_store import DuckStore
    from rocketchaos.spark_reports.store import Store

_SMALL_BYTES = 512 * 2**20
"""Of run folders. With the JVM's first compiler alone 423 MiB (200,000 message facts) take 59 s instead of 73 s on
2 cores, and 8 MiB 37 s instead of 50 s."""
_TINY_BYTES = 32 * 2**20
"""8 MiB take 32 s where Spark also interprets; 71 MiB take as long as without."""


class Form(StrEnum):
    """Of the short text."""

    TEXT = "text"
    MD = "md"


class Engine(StrEnum):
    """Of the queries of reports."""

    SPARK = "spark"
    DUCKDB = "duckdb"


EngineOption = Annotated[
    Engine,
    typer.Option(
        "--engine",
        help="Spark reads any store. DuckDB reads a store on this machine, and starts at once: for small ones.",
    ),
]
StoreOption = Annotated[
    str, typer.Option("--store", metavar="URI", help="The store: a folder, or any URI that Spark can reach.")
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Spark's master, or a Spark Connect server: sc://host:15002. "
        "Default: ROCKETCHAOS_SPARK_MASTER or local[*].",
    ),
]
OutOption = Annotated[str, typer.Option("--out", metavar="FOLDER", help="Where the page and tables go.")]
RunsUrlOption = Annotated[
    str | None,
    typer.Option(
        "--runs-url",
        metavar="TEMPLATE",
        help="Where run folders are served, for links to them, as https://ci.example.org/{parent}/{name}/. "
        "Default: where they were ingested.",
    ),
]
FormOption = Annotated[
    Form, typer.Option("--format", help="The format of the short text on standard output.")
]


@contextmanager
def read_store(uri: str, master: str | None, engine: Engine) -> Iterator[tuple[Store | DuckStore, Progress]]:
    """A store that is there, for reports.

    Raises:
        UsageProblem: there is none, or the engine can't read it.
    """
    if engine is Engine.SPARK:
        with open_store(uri, master, reports=True) as opened:
            yield opened
        return
    if master is not None:
        raise UsageProblem(
            "--master is Spark's, and --engine duckdb needs no Spark", "Leave one of them out."
        )
    from rocketchaos.spark_reports import requirements

    requirements.require_packages(reports=True)
    from rocketchaos.spark_reports.duck_store import DuckStore

    with Progress() as progress, DuckStore.opened(uri) as store:
        yield store, progress


@contextmanager
def open_store(
    uri: str, master: str | None, *places: str, reports: bool = False
) -> Iterator[tuple[Store, Progress]]:
    """A store that is there, in a Spark that also reaches these places; reports on a small store start faster."""
    from rocketchaos.spark_reports.places import Place

    place = Place.of(uri)
    place.require_there()
    small = reports and place.is_small()
    tiny = small and place.is_tiny()
    with spark_for(master, [uri, *places], reports=reports, small=small, tiny=tiny) as (spark, progress):
        from rocketchaos.spark_reports.store import Store

        yield Store.open(spark, uri, progress), progress


def spark_to_ingest(
    runs: Sequence[str], store: str, master: str | None, *, reports: bool = False
) -> AbstractContextManager[tuple[SparkSession, Progress]]:
    """A Spark that ingests these runs into a store; with few runs it takes two thirds of the time.

    Raises:
        UsageProblem: there is no such place, or it has no run folders.
        EnvironmentNotReady: the store is on this machine, and can't be written.
    """
    from rocketchaos.spark_reports import requirements

    requirements.require_packages(reports=reports)
    from rocketchaos.spark_reports.ingest.folder_list import local_bytes
    from rocketchaos.spark_reports.places import Place

    size, place = local_bytes(runs, _SMALL_BYTES), Place.of(store)
    if place.folder is not None and place.folder.is_dir():
        require_folder(place.folder, "Choose another --store, or correct its permissions.")
    small = size <= _SMALL_BYTES and place.is_small()
    tiny = small and size <= _TINY_BYTES and place.is_tiny()
    return spark_for(master, [store, *runs], reports=reports, small=small, tiny=tiny)


@contextmanager
def spark_for(
    master: str | None,
    places: Sequence[str],
    *,
    reports: bool = False,
    small: bool = False,
    tiny: bool = False,
) -> Iterator[tuple[SparkSession, Progress]]:
    """A Spark for one command; its packages are looked for, and loaded, only here."""
    from rocketchaos.spark_reports import requirements

    requirements.require_packages(reports=reports)
    from rocketchaos.spark_reports.spark_session import spark_session

    with Progress() as progress, spark_session(master, progress, places, small=small, tiny=tiny) as spark:
        yield spark, progress
