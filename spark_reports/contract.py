"""What Spark reads of a run folder: lines of facts and of messages, by the types in `harness.facts.kinds`.

Every column is explicit, and nothing is inferred.
"""

from pyspark.sql.types import DataType, StringType

from rocketchaos.harness.facts.kinds import KINDS, MessageLine
from rocketchaos.spark_reports.spark_schema import columns_of, schema


def _of_all_kinds() -> dict[str, DataType]:
    columns: dict[str, DataType] = {"fact": StringType()}
    for kind in KINDS:
        for name, column in columns_of(kind).items():
            if columns.setdefault(name, column) != column:
                raise TypeError(f"`{name}` is a {column} of {kind.__name__}, and otherwise a {columns[name]}")
    return columns


FACT = schema(**_of_all_kinds())
"""A line of `facts.jsonl`: the fields of all kinds, of which it has those of its own; `fact` says which it is."""

MESSAGE = schema(**columns_of(MessageLine))
"""A line of `messages.jsonl`."""
