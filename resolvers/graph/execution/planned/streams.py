"""Planned streams: root fields of subscriptions, which tell one event after another."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from graphql import GraphQLError

from oauth.principals import Principal
from resolvers.graph.execution.model_writers import ModelWriter, read_field
from resolvers.graph.execution.planned.fields import Answering, Path, PlannedOperation
from resolvers.graph.execution.planned.nodes import PlannedNode
from resolvers.graph.execution.selections import TYPE_NAME, Selected, SelectedField
from resolvers.operations.limits.admission import Demand, check_demands
from resolvers.operations.live import Live
from resolvers.operations.runner import run
from schema.changes.live import FollowedChange
from schema.errors import NotFound
from schema.kit.nodes import LOOKUP


@dataclass(eq=False)
class PlannedStream(PlannedOperation):
    """A field that goes on. Its value is what tells the events, each written as its document selects it."""

    async def _run(self, answering: Answering, arguments: Mapping[str, Any], path: Path) -> "Stream":
        ctx = replace(answering.ctx, selection=self.reading.selection)
        return Stream(await run(self.operation, ctx, arguments), self, answering, path)

    @cached_property
    def nodes(self) -> Mapping[SelectedField, PlannedNode]:
        """How the resources of changes are read, by the fields that lead to them."""
        return {each: PlannedNode.of(each, each.metadata[LOOKUP]) for each in _lookups(self.reading.below)}


@dataclass(eq=False, slots=True)
class Stream:
    """A subscription that has begun. `allow` raises what refuses its document to a caller."""

    live: Live[Any]
    _planned: PlannedStream
    _answering: Answering
    _path: Path
    allow: Callable[[Principal], Awaitable[None]] = field(init=False)

    async def events(self) -> AsyncIterator[tuple[dict[str, Any], list[GraphQLError]] | None]:
        """The data and errors of each event, and None when there was none for a while.

        Raises `Failure` when the caller may read no more.
        """
        async for page in self.live.pages():
            if page is None:
                await self._check()
                yield None
                continue
            for event in page.data:
                await self._check()
                yield await self._told(event)

    async def _told(self, event: Any) -> tuple[dict[str, Any], list[GraphQLError]]:
        """The data and errors of an event: read once for all whose document and rights are the same.

        A plan is of one document and choice of its directives; only the pages of links have other variables.
        """
        if not self._planned.nodes or self._answering.has_refusals:
            return await self._written(event)
        key = self._planned, tuple(self._answering.pages.values()), event.change.position
        return await self.live.read_once(key, partial(self._written, event))

    async def _written(self, event: Any) -> tuple[dict[str, Any], list[GraphQLError]]:
        # What one answer may read and write is counted for each event.
        caller = replace(self._answering.ctx.caller, bytes_read=0, bytes_written=0, watch=None)
        ctx = replace(self._answering.ctx, caller=caller)
        answering = replace(self._answering, ctx=ctx, errors=[])
        below = self._planned.reading.below
        data = {str(self._path[0]): await self._object(below, event, answering, self._path)}
        return data, answering.errors

    async def _check(self) -> None:
        await self.live.check()
        await self.allow(self.live.principal)

    async def _object(self, below: Selected, value: Any, answering: Answering, path: Path) -> dict[str, Any]:
        return {
            name: await self._field(below, each, value, answering, [*path, name])
            for name, each in below.fields.items()
        }

    async def _field(
        self, owner: Selected, field: SelectedField, value: Any, answering: Answering, path: Path
    ) -> Any:
        if field.name == TYPE_NAME:
            return owner.type.name
        if (node := self._planned.nodes.get(field)) is not None:
            return await _resource(node, value, answering, path)
        content, below = read_field(field, value), field.below
        if below is not None and any(LOOKUP in each.metadata for each in below.fields.values()):
            return await self._object(below, content, answering, path)
        return ModelWriter(answering.ctx.caller).write(field.type, below, content)


async def _resource(node: PlannedNode, change: FollowedChange, answering: Answering, path: Path) -> Any:
    """The resource of a change as it is now; null if it is gone, or of a batch."""
    operation = node.operations.get(f"{change.resource}s")
    if change.resource_id is None or operation is None:
        return None
    try:
        check_demands(answering.ctx.caller, [Demand.of(operation)])
        return await node.read(answering, operation, {"id": change.resource_id}, path)
    except NotFound:
        return None
    except Exception as error:  # noqa: BLE001 - whatever fails is an error of this field
        answering.refuse(error, node.selected, path)
    return None


def _lookups(below: Selected) -> list[SelectedField]:
    found = []
    for each in below.fields.values():
        if LOOKUP in each.metadata:
            found.append(each)
        elif each.below is not None:
            found += _lookups(each.below)
    return found
