"""Expansion: the links that a REST caller asks to have in an answer, like `share,customer.workspace`.

They are the links of GraphQL, read as parts of the same statement, at the same cost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, lru_cache
from typing import Any

from pydantic import BaseModel

from oauth.scopes import Scope
from resolvers.links import LINKS
from resolvers.operations.context import Context
from resolvers.operations.limits.admission import Demand, calls_for
from resolvers.operations.rows.links import Link, LinkedPage, LinkedRow, ToMany, ToOne
from resolvers.operations.shapes.chosen import Chosen
from resolvers.operations.shapes.shaped import ShapedRow, page_counts
from resolvers.operations.shapes.shapes import Shape
from resolvers.operations.shapes.writers import rest_writer
from schema.errors import Invalid, Problem, problem
from schema.kit.links import SCOPE
from schema.kit.pages import Page, Paging

MOST_LEVELS, MOST_PATHS, LONGEST = 3, 20, 1_000
# The items of a list behind a link, as many as GraphQL gives by default.
LIMIT = 10
# The words of a query are kept as what they select, which takes some KB each.
MOST_KEPT = 200


@dataclass(frozen=True)
class Expansion:
    """The links that an answer has of objects of `model`, by name, each with those below it."""

    model: type[BaseModel]
    below: Mapping[str, "Expansion"] = field(hash=False)

    @cached_property
    def _linked(self) -> Mapping[str, LinkedRow | LinkedPage]:
        links = LINKS[self.model] if self.below else {}
        return {name: _linked(links[name], each.chosen) for name, each in self.below.items()}

    @cached_property
    def chosen(self) -> Chosen:
        """What is read of each object: all that its shape has, and the links."""
        return Chosen(None, (), tuple(self._linked.values()))

    @cached_property
    def demands(self) -> Sequence[Demand]:
        """The scopes that the links need."""
        own = [Demand(scope_of(self.model, name)) for name in self.below]
        return [*own, *(demand for each in self.below.values() for demand in each.demands)]

    def cost(self, objects: int) -> int:
        """In calls, for so many objects: 1 for each link, and for each 100 objects that it may give."""
        counts = {name: objects * (LIMIT if is_list(self.model, name) else 1) for name in self.below}
        return sum(calls_for(count) + self.below[name].cost(count) for name, count in counts.items())

    def written(self, ctx: Context, result: Any) -> Any:
        """The answer of an operation that has read what is `chosen`, as REST writes it."""
        if isinstance(result, ShapedRow):
            return self._object(ctx, result.shape, result.line)
        counts, listed = page_counts(result), result.data
        return {"data": listed.parts(lambda line: self._object(ctx, listed.shape, line)), **counts}

    def _object(self, ctx: Context, shape: Shape[Any], line: Sequence[Any]) -> dict[str, Any]:
        written: dict[str, Any] = rest_writer(shape)(line, ctx.services)
        for number, (name, linked) in enumerate(self._linked.items()):
            cell, below = line[shape.place_of_link(number)], self.below[name]
            if isinstance(linked, LinkedPage):
                page = linked.opened(ctx, cell, written["id"], Paging(LIMIT, 1))
                written[name] = below.written(ctx, page)
            else:
                written[name] = None if cell is None else below._object(ctx, linked.shape, cell)
        return written


def read_expansion(model: type[BaseModel], sent: Sequence[str]) -> Expansion:
    """What the values of the parameter `expand` ask for. Raises `Invalid` with every problem."""
    if sum(map(len, sent)) > LONGEST:
        raise _refused(f"`expand` has at most {LONGEST:,} characters")
    paths = [path.strip() for value in sent for path in value.split(",")]
    if len(paths) > MOST_PATHS:
        raise _refused(f"`expand` takes at most {MOST_PATHS} links, not {len(paths)}")
    # A form that leaves the parameter empty expands nothing.
    return _read(model, tuple(filter(None, paths)))


@lru_cache(maxsize=MOST_KEPT)
def _read(model: type[BaseModel], paths: Sequence[str]) -> Expansion:
    tree: dict[str, Any] = {}
    problems: list[Problem] = []
    for path in paths:
        names = path.split(".")
        if len(names) > MOST_LEVELS:
            problems += _refused(f"`{path}` has {len(names)} levels; the limit is {MOST_LEVELS}").problems
            continue
        here, owner = tree, model
        for name in names:
            links = LINKS.get(owner, {})
            if name not in links:
                problems += _refused(_unknown(path, name, owner)).problems
                break
            here, owner = here.setdefault(name, {}), target_of(links[name])
    if problems:
        raise Invalid(problems)
    return _expansion(model, tree)


def _expansion(model: type[BaseModel], tree: Mapping[str, Any]) -> Expansion:
    links = LINKS.get(model, {})
    return Expansion(model, {name: _expansion(target_of(links[name]), tree[name]) for name in sorted(tree)})


def _unknown(path: str, name: str, owner: type[BaseModel]) -> str:
    known = sorted(LINKS.get(owner, {}))
    if not known:
        return f"`{path}` goes too far: {owner.__name__} has no links"
    near = get_close_matches(name, known, 1)
    hint = f": did you mean `{near[0]}`?" if near else f": use {', '.join(f'`{each}`' for each in known)}"
    return f"{owner.__name__} has no link `{name}`{hint}"


def _refused(message: str) -> Invalid:
    return Invalid([problem(("query", "expand"), message, "value")])


def target_of(link: Link) -> type[BaseModel]:
    """The model of the objects that a link leads to."""
    model: type[BaseModel] = link.shape.model
    return model


def is_list(model: type[BaseModel], name: str) -> bool:
    """Whether the link leads to a page of objects."""
    return isinstance(LINKS[model][name], ToMany)


def expanded_as(model: type[BaseModel], name: str) -> Any:
    """The type that an answer has in place of a link."""
    target: Any = target_of(LINKS[model][name])
    return Page[target] if is_list(model, name) else target


def scope_of(model: Any, name: str) -> Scope:
    """The scope that a link needs, as its field in GraphQL says."""
    field = model.__strawberry_definition__.get_field(name)
    return Scope(field.metadata[SCOPE])


def _linked(link: Link, chosen: Chosen) -> LinkedRow | LinkedPage:
    if isinstance(link, ToOne):
        return LinkedRow(link, chosen)
    return LinkedPage(link, chosen, LIMIT, is_counted=True, is_continued=True)
