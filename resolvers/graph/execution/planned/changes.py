"""Planned changes: fields of mutations, answered by what the change returned, or by a read after it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from graphql import GraphQLError, get_nullable_type, located_error

from resolvers.graph.execution.fields import IF_MATCH, located, validated
from resolvers.graph.execution.model_writers import ModelWriter
from resolvers.graph.execution.planned.fields import (
    Answering,
    Path,
    PlannedField,
    Reading,
    Values,
    sent_arguments,
)
from resolvers.graph.execution.selections import Selected, SelectedField, Unplanned
from resolvers.operations.declaration import Operation
from resolvers.operations.runner import run
from resolvers.operations.shapes.shaped import ShapedRow
from resolvers.operations.used_inputs import used_inputs
from schema.errors import Invalid


@dataclass(eq=False)
class PlannedChange(PlannedField):
    """A field that changes something. For links below, the resource is read once it is changed."""

    operation: Operation
    selected: SelectedField
    reading: Reading | None
    has_body: bool

    @classmethod
    def of(cls, operation: Operation, selected: SelectedField) -> "PlannedChange":
        """Raises `Unplanned` for what the change does not return and no read finds."""
        below = selected.below
        reading = None if below is None else Reading.of(below)
        if reading is not None and reading.links and _read_after(operation) is None:
            raise Unplanned
        for each in [] if below is None else below.fields.values():
            if each.below is not None and _needs_more(each.below):
                raise Unplanned
        has_body = any(parameter.place == "data" for parameter in operation.parameters)
        return cls(operation, selected, reading, has_body)

    async def answer(self, answering: Answering, path: Path) -> Any:
        try:
            arguments = answering.arguments_of(self.selected, self.operation)
            return await self._changed(answering, dict(arguments), path)
        except Invalid as invalid:
            self._refuse(answering, located(self.operation, invalid), path)
        except Exception as error:  # noqa: BLE001 - whatever fails is an error of this field
            self._refuse(answering, error, path)
        return None

    def _refuse(self, answering: Answering, error: Exception, path: Path) -> None:
        """Note an error, an outage too: the fields before this one are committed, and are answered."""
        answering.errors.append(located_error(error, self.selected.nodes, path))

    async def _changed(self, answering: Answering, arguments: dict[str, Any], path: Path) -> Any:
        ctx = replace(answering.ctx, if_match=arguments.pop(IF_MATCH.name))
        if self.has_body and ctx.caller.principal is not None:
            ctx.services.usage.add(ctx.caller.principal.client, used_inputs(arguments["data"]))
        result = await run(self.operation, ctx, arguments)
        if self.reading is None:
            return ModelWriter(ctx.caller).write(get_nullable_type(self.selected.type), None, result)
        read = _read_after(self.operation)
        if not self.reading.links or read is None:
            return self.reading.written(result, answering)
        id = result.line[result.shape.places["id"]] if isinstance(result, ShapedRow) else str(result.id)
        try:
            return await self.reading.answer(answering, read, {"id": UUID(id)}, path)
        except Exception as error:  # noqa: BLE001 - it is changed: only what links lead to is missing
            pages = {**answering.pages, **dict.fromkeys(self.reading.links, error)}
            without = replace(answering, pages=pages)
            value = self.reading.written(result, without)
            without.refuse_links(value, self.reading.below, path)
            return value

    def take_arguments(self, values: Values) -> Iterator[tuple[SelectedField, Any]]:
        try:
            sent = sent_arguments(self.selected, values)
            if_match = sent.pop(IF_MATCH.name, None)
            yield self.selected, {**validated(self.operation, sent), IF_MATCH.name: if_match}
        except (GraphQLError, Invalid) as refusal:
            yield self.selected, refusal


def _read_after(change: Operation) -> Operation | None:
    """The operation that reads what was changed by its id."""
    read = change.gives
    if read is None or read.answer is not change.answer:
        return None
    return read if any(parameter.name == "id" for parameter in read.parameters) else None


def _needs_more(selected: Selected) -> bool:
    """Whether something below has to be read that objects inside an answer do not have."""
    return any(
        each.source is None or not each.is_plain or (each.below is not None and _needs_more(each.below))
        for each in selected.fields.values()
        if each.name != "__typename" and each.link is None
    )
