"""Planned changes: fields of mutations, answered by what the change returned, or by a read after it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import UUID

from graphql import GraphQLError, get_nullable_type, located_error

from resolvers.graph.execution.fields import IF_MATCH, located, validated
from resolvers.graph.execution.model_writers import ModelWriter
from resolvers.graph.execution.plain_fields import DEFINITION
from resolvers.graph.execution.planned.fields import (
    Answering,
    Path,
    PlannedField,
    Reading,
    Values,
    sent_arguments,
)
from resolvers.graph.execution.selections import Selected, SelectedField
from resolvers.operations.declaration import Operation
from resolvers.operations.runner import run
from resolvers.operations.shapes.shaped import ShapedRow
from resolvers.operations.used_inputs import used_inputs
from schema.errors import Invalid


class Part(NamedTuple):
    """An object inside what a change returns that has to be read for what is selected of it."""

    field: SelectedField
    read: Operation
    reading: Reading


@dataclass(eq=False)
class PlannedChange(PlannedField):
    """A field of a mutation. For links below, the resource is read once it is changed.

    Where no operation reads it, the `parts` by their names in the answer that need it are read.
    """

    operation: Operation
    selected: SelectedField
    reading: Reading | None
    parts: Mapping[str, Part]
    has_body: bool

    @classmethod
    def of(
        cls, operation: Operation, selected: SelectedField, nodes: Mapping[str, Operation]
    ) -> "PlannedChange":
        """`nodes` are the operations that read resources, by table."""
        below, parts = selected.below, {}
        if below is not None and _read_after(operation) is None:
            reads = {each.answer.__name__: each for each in nodes.values()}
            parts = {
                name: Part(each, reads[each.below.type.name], Reading.of(each.below))
                for name, each in below.fields.items()
                if each.below is not None and _needs_more(each.below)
            }
            below = Selected(below.type, {k: v for k, v in below.fields.items() if k not in parts})
        has_body = any(parameter.place == "data" for parameter in operation.parameters)
        reading = None if below is None else Reading.of(below)
        return cls(operation, selected, reading, parts, has_body)

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
        if self.parts and self.selected.below is not None:
            value = self.reading.written(result, answering)
            for name, part in self.parts.items():
                value[name] = await self._read_part(part, result, answering, [*path, name])
            return {name: value[name] for name in self.selected.below.fields}
        if not self.reading.links or read is None:
            return self.reading.written(result, answering)
        id = result.line[result.shape.places["id"]] if isinstance(result, ShapedRow) else str(result.id)
        try:
            return await self.reading.answer(answering, read, {"id": UUID(id)}, path)
        except Exception as error:  # noqa: BLE001 - it is changed: only what links lead to is missing
            pages = {**answering.pages, **dict.fromkeys(self.reading.links, error)}
            without = replace(answering, pages=pages, has_refusals=True)
            value = self.reading.written(result, without)
            without.refuse_links(value, self.reading.below, path)
            return value

    async def _read_part(self, part: Part, result: Any, answering: Answering, path: Path) -> Any:
        try:
            id = getattr(result, part.field.attribute).id
            return await part.reading.answer(answering, part.read, {"id": id}, path)
        except Exception as error:  # noqa: BLE001 - it is changed: only this part is missing
            answering.errors.append(located_error(error, part.field.nodes, path))
            return None

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
        each.link is not None
        or _is_read_by_a_resolver(each)
        or (each.below is not None and _needs_more(each.below))
        for each in selected.fields.values()
    )


def _is_read_by_a_resolver(field: SelectedField) -> bool:
    """Whether the field is more than an attribute of the object, or what the object makes by itself."""
    declared = None if field.declared is None else field.declared.extensions[DEFINITION]
    return declared is not None and declared.base_resolver is not None and declared.base_resolver.is_async
