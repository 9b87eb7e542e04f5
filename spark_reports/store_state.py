"""The version of a store, its age limit and its damages, for every engine that reads it."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.spark_reports.delta_log import unnoticed_damage
from rocketchaos.spark_reports.places import Place
from rocketchaos.spark_reports.tables import STORE_VERSION

VERSION_PROPERTY = "rocketchaos.store-version"
"""Of the table `runs`: `spark_reports.tables.STORE_VERSION` of the store."""
KEPT_SINCE_PROPERTY = "rocketchaos.kept-since"
"""Of the table `runs`: older runs were removed, and ingests skip them; a time in ISO 8601."""
_ANOTHER_STORE = "Put it back from a copy of the store, or make a new store of the run folders."


def kept_since(text: str | None) -> datetime | None:
    """Of the value of `KEPT_SINCE_PROPERTY`. None: no runs were removed."""
    return None if text is None else datetime.fromisoformat(text)


def require_version(version: int, uri: str) -> None:
    """See that the store has the version of this rocketchaos.

    Raises:
        UsageProblem: it has another one.
    """
    if version < STORE_VERSION:
        raise UsageProblem(
            f"the store at {uri} has version {version}, and this rocketchaos writes {STORE_VERSION}",
            f"Bring it up to date: rocketchaos report migrate --store {uri}.",
        )
    if version > STORE_VERSION:
        raise UsageProblem(
            f"the store at {uri} has version {version}, and this rocketchaos reads {STORE_VERSION}",
            "Use a newer rocketchaos.",
        )


def require_undamaged(place: Place, table: Path) -> None:
    """See that the log of a table, on a disk of this machine, has no damage that Delta overlooks.

    Raises:
        UsageProblem: it has.
    """
    damage = unnoticed_damage(table)
    if damage is not None:
        raise UsageProblem(f"the store at {place.uri} is damaged: {damage}", _ANOTHER_STORE)


def lacks(place: Place, names: Sequence[str]) -> UsageProblem:
    """The store lacks these tables."""
    return UsageProblem(
        f"the store at {place.uri} is damaged: there is no table {', '.join(names)}, or no _delta_log in it",
        _ANOTHER_STORE,
    )
