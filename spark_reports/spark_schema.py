"""Explicit schemas: written by hand for a few columns, or derived from the types that the judge writes."""

import types
from collections.abc import Mapping
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from rocketchaos.harness.facts.kinds import Int32

_PLAIN: Mapping[Any, DataType] = {
    str: StringType(),
    float: DoubleType(),
    bool: BooleanType(),
    int: LongType(),
    Int32: IntegerType(),
}


def schema(**columns: DataType) -> StructType:
    """Columns and their types, in this order; each may be null."""
    return StructType([StructField(name, kind, True) for name, kind in columns.items()])


def columns_of(kind: type[msgspec.Struct]) -> dict[str, DataType]:
    """The columns of a type's fields, in their order.

    Raises:
        TypeError: a field has a type for which there is no column.
    """
    hints = get_type_hints(kind, include_extras=True)
    return {name: _column(hints[name]) for name in kind.__struct_fields__}


def _column(hint: Any) -> DataType:
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (only,) = (item for item in arguments if item is not type(None))
        return _column(only)
    if origin is tuple:
        return ArrayType(_column(arguments[0]), False)
    if origin is Mapping:
        return MapType(StringType(), _column(arguments[1]), True)
    if origin is Annotated:
        return _column(arguments[0])
    raise TypeError(f"no column holds {hint}")
