"""Planned fields: what a root field of a document runs, and how its result is written."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import GraphQLError, get_argument_values, located_error
from graphql.execution.values import VariableValues

from resolvers.graph.execution.argument_readers import read_arguments
from resolvers.graph.execution.choices import Choice, Pages, choose, is_page, items_of
from resolvers.graph.execution.fields import located, selected_paths, validated
from resolvers.graph.execution.model_writers import ModelWriter
from resolvers.graph.execution.page_writers import PageWriter
from resolvers.graph.execution.selections import Selected, SelectedField
from resolvers.graph.execution.writers import RefusedPage, Writing, selected_object, selection_writer
from resolvers.operations.context import Context
from resolvers.operations.declaration import Operation
from resolvers.operations.limits.admission import Demand, check_demands
from resolvers.operations.outages import unforeseen
from resolvers.operations.rows.page_forms import rounded
from resolvers.operations.runner import run
from resolvers.operations.shapes.shaped import ShapedRow, ShapedRows
from schema.errors import LARGEST_ANSWER, AnswerTooLarge, Invalid
from schema.kit.pages import Page, Paging
from storage.dialects.json_rows import PARSED_AT_ONCE, LinesTooLong
from storage.engine.outages import is_outage

# What is kept of a field for other limits and other refusals.
MOST_CHOICES = 4

Path = list[str | int]
Values = VariableValues | None
# The validated arguments of each field that has any, or why they are refused.
Arguments = Mapping[SelectedField, Mapping[str, Any] | Exception]


@dataclass(eq=False, slots=True)
class Answering:
    """An answer in the making: the request, its arguments and pages, and the errors so far."""

    ctx: Context
    arguments: Arguments
    pages: Pages
    is_permitted: bool
    has_refusals: bool
    errors: list[GraphQLError]

    def part(self, ctx: Context, errors: list[GraphQLError]) -> "Answering":
        """That of one of the fields, with errors of its own."""
        permitted = self.is_permitted
        return Answering(ctx, self.arguments, self.pages, permitted, self.has_refusals, errors)

    def arguments_of(self, field: SelectedField, operation: Operation) -> Mapping[str, Any]:
        """The arguments of the field's operation. Raises their refusal, or that of the caller.

        As graphql-core does, arguments of a wrong type are refused before the caller, and wrong values after.
        """
        arguments = self.arguments[field]
        if isinstance(arguments, GraphQLError):
            raise arguments
        if not self.is_permitted:
            check_demands(self.ctx.caller, [Demand.of(operation)])
        if isinstance(arguments, Exception):
            raise arguments
        return arguments

    def refuse(self, error: Exception, field: SelectedField, path: Path) -> None:
        """Note the error at the field.

        Raises what concerns the whole answer: `AnswerTooLarge`, or the `Failure` for an outage.
        """
        if isinstance(error, AnswerTooLarge):
            raise error
        assumed = self.ctx.caller.assumed
        if assumed is not None and error is assumed.outage:
            # It has to be looked up first whose answer this is.
            raise error
        if isinstance(error, LinesTooLong) or is_outage(error):
            raise unforeseen(error, self.ctx.caller.request_id) from error
        self.errors.append(located_error(error, field.nodes, path))

    def refuse_links(self, value: Any, selected: Selected, path: Path) -> None:
        """Note the refusals of links, one for each object that has one."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                self.refuse_links(item, selected, [*path, index])
        elif value is not None:
            for name, each in selected.fields.items():
                refusal = self.pages.get(each)
                if isinstance(refusal, Exception):
                    self.errors.append(located_error(refusal, each.nodes, [*path, name]))
                elif isinstance(refused := value[name], RefusedPage):
                    self.errors.append(located_error(refused.refusal, each.nodes, [*path, name]))
                    value[name] = None
                elif each.below is not None:
                    self.refuse_links(value[name], each.below, [*path, name])


class PlannedField(ABC):
    """A root field, or one of a group of them."""

    @abstractmethod
    async def answer(self, answering: Answering, path: Path) -> Any:
        """The field's value; its errors are noted."""

    def take_arguments(self, values: Values) -> Iterator[tuple[SelectedField, Any]]:
        """The validated arguments by the request's variables, or the refusal of them."""
        yield from ()


@dataclass(eq=False)
class PlannedName(PlannedField):
    """The field `__typename`."""

    name: str

    async def answer(self, answering: Answering, path: Path) -> str:
        return self.name


@dataclass(eq=False)
class PlannedGroup(PlannedField):
    """A field that groups others, like `portal`."""

    fields: Mapping[str, PlannedField]

    async def answer(self, answering: Answering, path: Path) -> dict[str, Any]:
        return {name: await each.answer(answering, [*path, name]) for name, each in self.fields.items()}

    def take_arguments(self, values: Values) -> Iterator[tuple[SelectedField, Any]]:
        for each in self.fields.values():
            yield from each.take_arguments(values)


@dataclass(eq=False)
class Reading:
    """How objects of one selection are read and written, by the pages of the links below."""

    below: Selected
    links: tuple[SelectedField, ...]
    selection: frozenset[str]
    choices: dict[Any, Choice] = field(default_factory=dict)

    @classmethod
    def of(cls, below: Selected) -> "Reading":
        return cls(below, tuple(below.links()), selected_paths(below.paths()))

    def choice(self, pages: Pages) -> Choice:
        key = tuple(_form(pages[link]) for link in self.links)
        choice = self.choices.get(key)
        if choice is None:
            if len(self.choices) >= MOST_CHOICES:
                self.choices.clear()
            items = items_of(self.below) if is_page(self.below) else [self.below]
            choice = self.choices[key] = choose(items, pages)
        return choice

    async def answer(
        self, answering: Answering, operation: Operation, arguments: Mapping[str, Any], path: Path
    ) -> Any:
        """What is selected from the result of an operation."""
        choice = self.choice(answering.pages)
        result = await run(operation, self._context(answering, operation, choice), arguments)
        value = self._written(result, answering, choice)
        if answering.has_refusals and self.links:
            answering.refuse_links(value, self.below, path)
        return value

    def _context(self, answering: Answering, operation: Operation, choice: Choice) -> Context:
        return Context(
            answering.ctx.services,
            answering.ctx.caller,
            selection=self.selection,
            # What finishes an answer looks at all of it.
            chosen=choice.chosen if operation.finish is None else None,
            places=choice.places(answering.pages),
            may_be_late=choice.may_be_late,
            is_together=answering.ctx.is_together,
        )

    def written(self, result: Any, answering: Answering) -> Any:
        """What is selected from a result."""
        return self._written(result, answering, self.choice(answering.pages))

    def _written(self, result: Any, answering: Answering, choice: Choice) -> Any:
        caller = answering.ctx.caller
        # Of most answers it is known beforehand that they are small enough.
        is_long = caller.bytes_read > PARSED_AT_ONCE
        is_counted = is_long or caller.bytes_read * self.below.times > LARGEST_ANSWER
        writing = Writing(answering.ctx, answering.pages, is_counted, answering.has_refusals)
        if isinstance(result, ShapedRow):
            return writing.part(self._writer(choice, result.shape), result.line)
        if isinstance(result, Page) and isinstance(result.data, ShapedRows):
            return self._writer(choice, result.data.shape).write(result.data.lines, result, writing)
        return ModelWriter(caller).write(self.below.type, self.below, result)

    def _writer(self, choice: Choice, shape: Any) -> Any:
        writer = choice.writers.get(shape)
        if writer is None:
            if is_page(self.below):
                writer = PageWriter(
                    self.below, lambda items, source: selected_object(shape, items, choice, source)
                )
            else:
                writer = selection_writer(shape, self.below, choice)
            choice.writers[shape] = writer
        return writer


@dataclass(eq=False)
class PlannedOperation(PlannedField):
    """A field that is an operation, with what is selected from its answer."""

    operation: Operation
    selected: SelectedField
    reading: Reading

    async def answer(self, answering: Answering, path: Path) -> Any:
        try:
            arguments = answering.arguments_of(self.selected, self.operation)
            return await self._run(answering, arguments, path)
        except Invalid as invalid:
            answering.refuse(located(self.operation, invalid), self.selected, path)
        except Exception as error:  # noqa: BLE001 - whatever fails is an error of this field
            answering.refuse(error, self.selected, path)
        return None

    def _run(self, answering: Answering, arguments: Mapping[str, Any], path: Path) -> Awaitable[Any]:
        return self.reading.answer(answering, self.operation, arguments, path)

    def take_arguments(self, values: Values) -> Iterator[tuple[SelectedField, Any]]:
        try:
            yield self.selected, validated(self.operation, sent_arguments(self.selected, values))
        except (GraphQLError, Invalid) as refusal:
            yield self.selected, refusal


def sent_arguments(selected: SelectedField, values: Values) -> dict[str, Any]:
    """The arguments of a field as its resolver gets them. Raises GraphQLError."""
    declared: Any = selected.declared
    return read_arguments(declared, get_argument_values(declared, selected.nodes[0], values))


def _form(paging: Paging | Exception) -> Any:
    """What the statement of a page behind a link depends on."""
    if isinstance(paging, Exception):
        return None
    return rounded(paging.limit), paging.page > 1, paging.after is not None
