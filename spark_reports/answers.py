"""The rows of the reports' queries: each query is asked once, however many reports have it.

Queries of small stores are many short jobs: while one is planned, another one runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from pyspark.sql import Row

from rocketchaos.spark_reports.queries import query
from rocketchaos.spark_reports.session import Session

T = TypeVar("T")

_AT_ONCE = 3


class Answers:
    """Of the views as they are now."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._asked: dict[str, Future[list[Row]]] = {}
        self._made: dict[Callable[[Answers], Any], Any] = {}

    def rows(self, name: str) -> list[Row]:
        """The rows of a query, by the name of its file."""
        if name not in self._asked:
            answer: Future[list[Row]] = Future()
            answer.set_result(self._ask(name))
            self._asked[name] = answer
        return self._asked[name].result()

    def once(self, make: Callable[[Answers], T]) -> T:
        """What this function makes of the rows, made at the first call."""
        if make not in self._made:
            self._made[make] = make(self)
        made: T = self._made[make]
        return made

    @contextmanager
    def asked_ahead(self, names: Iterable[str]) -> Iterator[None]:
        """Within the block these queries are asked, in this order, some at a time."""
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="query") as pool:
            self._asked |= {name: pool.submit(self._ask, name) for name in names}
            try:
                yield
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _ask(self, name: str) -> list[Row]:
        return self._session.sql(query(name)).collect()
