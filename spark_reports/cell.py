"""A cell: what was run, with which clients, on which version, kind of cluster and timing."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol


class _Row(Protocol):
    def __getitem__(self, name: str, /) -> Any: ...


class Cell(NamedTuple):
    """The columns of `runs` by which runs are put together."""

    scenario: str
    client: str
    """Kinds, with their versions where those aren't the brokers': `java`, `java 4.9.4`, `java+python 2.0.0`."""
    rocketmq: str
    cluster: str
    timing: str

    @classmethod
    def of(cls, row: _Row) -> Cell:
        """The cell of a row; a value that its run folders don't have is `unknown` in the views of the store."""
        return cls(*(row[column] for column in cls._fields))

    @property
    def label(self) -> str:
        """All fields except the scenario."""
        return " ".join(self[1:])

    @property
    def exact_client(self) -> str:
        """With all versions, whatever the brokers': `java 5.5.0`, `java 5.5.0+python 2.0.0`."""
        return "+".join(item if " " in item else f"{item} {self.rocketmq}" for item in self.client.split("+"))
