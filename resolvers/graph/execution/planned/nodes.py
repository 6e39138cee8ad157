"""The planned field `node`: the resource with an id, written as what is selected of its type."""

from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import GraphQLError

from resolvers.graph.execution.nodes import node_with
from resolvers.graph.execution.planned.fields import (
    Answering,
    Path,
    PlannedField,
    Reading,
    Values,
    sent_arguments,
)
from resolvers.graph.execution.selections import SelectedField
from resolvers.operations.declaration import Operation


@dataclass(eq=False)
class PlannedNode(PlannedField):
    """The field `node` over these operations by table. `readings` are those of each type by its name.

    The table `likely` is that of the only type with fields of its own in the document, if there is one.
    """

    selected: SelectedField
    operations: Mapping[str, Operation]
    readings: Mapping[str, Reading]
    likely: str

    @classmethod
    def of(cls, selected: SelectedField, operations: Mapping[str, Operation]) -> "PlannedNode":
        named = {each.type.name for each in selected.types if not each.is_of_interface}
        likely = [table for table, each in operations.items() if each.answer.__name__ in named]
        readings = {each.type.name: Reading.of(each) for each in selected.types}
        return cls(selected, operations, readings, likely[0] if len(likely) == 1 else "")

    async def read(
        self, answering: Answering, operation: Operation, values: Mapping[str, Any], path: Path
    ) -> Any:
        """What is selected of the resource that an operation reads."""
        reading = self.readings[operation.answer.__name__]
        return await reading.answer(answering, operation, values, path)

    async def answer(self, answering: Answering, path: Path) -> Any:
        arguments = answering.arguments[self.selected]

        def read(operation: Operation, values: dict[str, Any]) -> Awaitable[Any]:
            return self.read(answering, operation, values, path)

        try:
            if isinstance(arguments, Exception):
                raise arguments
            return await node_with(answering.ctx, self.operations, arguments["id"], self.likely, read)
        except Exception as error:  # noqa: BLE001 - whatever fails is an error of this field
            answering.refuse(error, self.selected, path)
        return None

    def take_arguments(self, values: Values) -> Iterator[tuple[SelectedField, Any]]:
        try:
            yield self.selected, sent_arguments(self.selected, values)
        except GraphQLError as refusal:
            yield self.selected, refusal
