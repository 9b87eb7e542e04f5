"""The rows of the reports' queries: each query is asked once, however many reports have it.

Queries of small stores are many short jobs: while one is planned, another one runs.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from pyspark.sql import Row, SparkSession

from rocketchaos.spark_reports.queries import query

_AT_ONCE = 3


class Answers:
    """Of the views as they are now."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self._asked: dict[str, Future[list[Row]]] = {}

    def rows(self, name: str) -> list[Row]:
        """The rows of a query, by the name of its file."""
        if name not in self._asked:
            answer: Future[list[Row]] = Future()
            answer.set_result(self._ask(name))
            self._asked[name] = answer
        return self._asked[name].result()

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
        return self.spark.sql(query(name)).collect()
