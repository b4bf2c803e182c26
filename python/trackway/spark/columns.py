"""Arrow columns as Spark knows them: it has neither unsigned integers nor dictionaries."""

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType


def _known(column: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(column):
        return _known(column.value_type)
    if pa.types.is_uint64(column) or pa.types.is_uint32(column):
        return pa.int64()
    if pa.types.is_uint16(column):
        return pa.int32()
    if pa.types.is_uint8(column):
        return pa.int16()
    return column


def known_schema(schema: pa.Schema) -> pa.Schema:
    """The same columns in types that Spark has. Numbers from 2^63 on become negative."""
    return pa.schema([pa.field(field.name, _known(field.type), field.nullable) for field in schema])


def spark_schema(schema: pa.Schema) -> StructType:
    """What Spark calls the columns of a known schema."""
    return from_arrow_schema(schema)


def known_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with the columns of its known schema."""
    columns = [_column(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.record_batch(columns, schema=schema)


def _column(column: pa.Array, known: pa.DataType) -> pa.Array:
    if column.type == known:
        return column
    if pa.types.is_uint64(column.type):
        return column.view(known)
    return column.cast(known)
