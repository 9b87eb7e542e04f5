"""The SQL of the reports, one file per query: `queries/flakiness_cells.sql`.

It is run on views that have the names of the store's tables, and the same text is shown with its figure.
Facts are always joined with `runs` through `run_key` (see `spark_reports.tables`). A first comment in each
file says what comes out. Their common parts are in `parts` once: `${settings}` stands for
`parts/settings.sql`.
"""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template

_ALSO_READS: Mapping[str, Iterable[str]] = {"flakiness": ["diff"]}
"""Reports of which another one has a section."""


def query(name: str) -> str:
    """The text of one query, by the name of its file."""
    parts = {
        item.name.removesuffix(".sql"): _text(item) for item in files(__name__).joinpath("parts").iterdir()
    }
    return Template(_text(files(__name__).joinpath(f"{name}.sql"))).substitute(parts)


def queries_of(reports: Iterable[str]) -> list[str]:
    """The names of the queries that these reports read, each once, in their order."""
    read = dict.fromkeys(item for report in reports for item in (*_ALSO_READS.get(report, ()), report))
    found = sorted(item.name.removesuffix(".sql") for item in files(__name__).iterdir())
    return [name for report in read for name in found if name.startswith(f"{report}_")]


def queries(*names: str) -> str:
    """The queries of a figure or table, each ready to run by itself."""
    return ";\n\n".join(map(query, names))


def _text(file: Traversable) -> str:
    return file.read_text(encoding="utf-8").strip()
