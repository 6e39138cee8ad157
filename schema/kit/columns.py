"""Long lists of plain objects, stored as columns: an answer is written without creating the objects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

Item = TypeVar("Item", bound=BaseModel)


class ColumnList(Iterable[Item], Generic[Item]):
    """A list of `model`, stored as one or more columns of equal length, with values as JSON has them.

    Fields without a column have their defaults, and REST leaves them out. Objects are created only while
    the list is iterated.
    """

    def __init__(self, model: type[Item], columns: Mapping[str, list[Any]]) -> None:
        self.model = model
        self.columns = columns

    def rows(self) -> list[dict[str, Any]]:
        """The objects as dictionaries of the columns."""
        names = tuple(self.columns)
        return [dict(zip(names, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]

    def column(self, name: str) -> list[Any]:
        """The values of a field that has a column."""
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __iter__(self) -> Iterator[Item]:
        return (self.model.model_construct(**row) for row in self.rows())


def as_column_list(listed: Sequence[Item]) -> ColumnList[Item]:
    """The value of a `KeptByColumn` field with its real type."""
    return cast("ColumnList[Item]", listed)


class KeptByColumn:
    """Annotates a field that holds a `ColumnList` and is a list of objects in the API."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(ColumnList.rows)
        return cast("CoreSchema", {**handler(source), "serialization": written})

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        listed = {key: value for key, value in schema.items() if key != "serialization"}
        return handler(cast("CoreSchema", listed))
