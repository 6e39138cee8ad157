"""Plain fields and lists are executed in short: the answers are those of the stock executor, errors too."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from inspect import isawaitable
from random import Random
from typing import Annotated, Any
from uuid import UUID

import pytest
import strawberry
from graphql import Undefined, execute, parse
from hypothesis import given, settings
from hypothesis import strategies as st
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext as StockExecutor
from strawberry.utils.str_converters import to_camel_case

from resolvers.graph.execution.executor import Executor, mark_plain_fields
from schema.kit.base import Output, graphql_type
from schema.kit.columns import ColumnList
from schema.values.integers import LARGEST_LONG
from schema.values.scalars import SCALARS, Long
from tests.support.documents import HEAD, USE, VARIABLES, selections

EXAMPLES = 10 * int(os.environ.get("EXAMPLES", "15"))


@strawberry.enum
class Colour(StrEnum):
    RED = "red"
    DARK_BLUE = "dark-blue"


@graphql_type
class Leaf(Output):
    name: str
    name_or_none: str | None = None
    count: int
    amount: Annotated[Long, "whole"]
    ratio: float
    ratio_or_none: float | None = None
    is_on: bool
    id: UUID
    moment_or_none: datetime | None = None
    colour: Colour
    colour_or_none: Colour | None = None
    names: list[str]
    names_or_none: list[str | None] | None = None

    @strawberry.pydantic.field
    def shout(self, times: int = 1) -> str:
        return self.name * times

    @strawberry.pydantic.field
    async def later(self) -> str | None:
        return self.name_or_none


@graphql_type
class Fruit(Output):
    weight: float


@graphql_type
class Branch(Output):
    name: str
    leaf: Leaf
    leaf_or_none: Leaf | None
    leaves: list[Leaf]
    gaps: list[Leaf | None] | None
    rows: list[Leaf]
    grown: list[Leaf | Fruit]
    branches: list["Branch"]


TEXTS = ["", "a", "é", "x" * 30]
NUMBERS = [0, 1, -7, 2**31 - 1, 2**31, -(2**31) - 1, LARGEST_LONG, LARGEST_LONG + 2, 2**70, True]
DOUBLES = [0.0, -0.0, 0.5, 1e300, 5e-324, 3.0, 7]
MOMENT = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
GOOD: dict[str, list[Any]] = {
    "name": TEXTS,
    "name_or_none": [None, *TEXTS],
    "count": NUMBERS[:4],
    "amount": NUMBERS,
    "ratio": DOUBLES,
    "ratio_or_none": [None, *DOUBLES],
    "is_on": [True, False],
    "id": [UUID(int=1), UUID(int=2)],
    "moment_or_none": [None, MOMENT],
    "colour": list(Colour),
    "colour_or_none": [None, *Colour],
    "names": [[], ["a"], ["a", "b"] * 3],
    "names_or_none": [None, [], [None, "a"]],
}


class Awaited:
    """Something that only an event loop can make a value of."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __await__(self) -> Any:
        yield from ()
        return self.value

    def __repr__(self) -> str:
        return "Awaited()"


class Thin(Leaf):
    """Another class, which the stock executor takes for the same type."""


BAD: list[Any] = [
    None,
    Undefined,
    "text",
    3,
    2**40,
    float("inf"),
    float("nan"),
    ValueError("in the data"),
    Awaited("later"),
    Awaited(None),
    [None, 3, ValueError("in a list")],
    object,
]


@dataclass
class Maker:
    """Makes up branches; one that is not good makes some values that no resolver should give."""

    random: Random
    is_good: bool

    def value(self, name: str) -> Any:
        return self.random.choice(GOOD[name] if self.is_good or self.random.random() < 0.97 else BAD)

    def leaf(self) -> Leaf:
        kind = Leaf if self.is_good or self.random.random() < 0.95 else Thin
        values = {name: self.value(name) for name in GOOD}
        if not self.is_good and self.random.random() < 0.03:
            del values[self.random.choice(list(GOOD))]
        return kind.model_construct(**values)

    def many(self, *others: Any) -> list[Any]:
        """Up to four leaves, one of the others among them now and then."""
        made: list[Any] = [self.leaf() for _ in range(self.random.randrange(5))]
        if others and self.random.random() < 0.3:
            made.insert(self.random.randrange(len(made) + 1), self.random.choice(others))
        return made

    def rows(self) -> ColumnList[Leaf]:
        """Columns for all fields, or for all that have no default."""
        size, every = self.random.randrange(5), self.is_good or self.random.random() < 0.9
        names = [name for name in GOOD if "none" not in name or self.random.random() < 0.5]
        if not every:
            names.remove(self.random.choice(names))
        return ColumnList(Leaf, {name: [self.value(name) for _ in range(size)] for name in names})

    def branch(self, depth: int = 1) -> Branch:
        odd = () if self.is_good else (None, 5, ValueError("an item"), Awaited(None), Awaited(5))
        leaves = self.many(*odd)
        return Branch.model_construct(
            name=self.random.choice(TEXTS),
            leaf=self.leaf(),
            leaf_or_none=self.random.choice([None, self.leaf()]),
            leaves=self.random.choice([leaves, tuple(leaves)]),
            gaps=self.many(None, *odd),
            rows=self.rows(),
            grown=self.many(*(Fruit.model_construct(weight=weight) for weight in DOUBLES)),
            branches=[self.branch(depth - 1) for _ in range(self.random.randrange(3) if depth else 0)],
        )


class Watched(Executor):
    """Remembers the types of the items that were completed one by one."""

    items: list[str]

    def complete_list_item_value(self, item: Any, results: Any, item_type: Any, *rest: Any) -> bool:
        Watched.items.append(str(item_type))
        return super().complete_list_item_value(item, results, item_type, *rest)


class Faulty(Executor):
    """Has a bug of its own in the short cut."""

    def _make_plan(self, *_: Any) -> Any:
        raise LookupError("a bug in the short cut")


@strawberry.type
class Query:
    @strawberry.field
    def branch(self, info: strawberry.Info) -> Branch | None:
        return info.context["branch"]


SCHEMA = strawberry.Schema(Query, config=StrawberryConfig(scalar_map=SCALARS))._schema
mark_plain_fields(SCHEMA)
IN_BRANCHES, IN_LEAVES = (selections(SCHEMA.type_map[name]) for name in ("Branch", "Leaf"))
MAKERS = st.builds(Maker, st.integers(0, 2**32).map(Random), st.booleans())
LISTS = "leaf {0} leafOrNone {0} leaves {0} gaps {0} rows {0} branches {{ leaves {0} rows {0} }}"


async def run(
    executor: type[StockExecutor], branch: Branch, asked: str, fragments: str = ""
) -> tuple[str, list[Any]]:
    """The answer with the types of its values, and the errors with their places."""
    document = parse(f"{HEAD} {{ {USE} branch {asked} }} {fragments}")
    result = execute(
        SCHEMA, document, context_value={"branch": branch}, variable_values=VARIABLES, executor_class=executor
    )
    done = await result if isawaitable(result) else result
    return repr(done.data), [error.formatted for error in done.errors or []]


@settings(max_examples=EXAMPLES, deadline=None)
@given(IN_BRANCHES, MAKERS)
async def test_any_selection_is_answered_as_by_the_stock_executor(selected, maker):
    branch, (asked, fragments) = maker.branch(), selected
    assert await run(Executor, branch, asked, fragments) == await run(StockExecutor, branch, asked, fragments)


@settings(max_examples=EXAMPLES, deadline=None)
@given(IN_LEAVES, MAKERS)
async def test_any_selection_of_items_is_answered_as_by_the_stock_executor(selected, maker):
    branch, (below, fragments) = maker.branch(), selected
    asked = f"{{ {LISTS.format(below)} }}"
    assert await run(Executor, branch, asked, fragments) == await run(StockExecutor, branch, asked, fragments)


@pytest.mark.parametrize("name", GOOD)
async def test_a_value_that_no_resolver_should_give_is_the_same_error(name):
    maker = Maker(Random(), is_good=True)
    for value in BAD:
        odd = maker.leaf().model_copy(update={name: value})
        columns = {name: [GOOD[name][0], value, GOOD[name][-1]]}
        branch = Branch.model_construct(
            leaf=odd, gaps=[maker.leaf(), odd], rows=ColumnList(Leaf, columns), leaves=[odd]
        )
        for part in ("leaf", "gaps", "rows", "leaves"):
            asked = f"{{ {part} {{ {to_camel_case(name)} }} }}"
            assert await run(Executor, branch, asked) == await run(StockExecutor, branch, asked)


async def test_objects_with_plain_fields_are_not_completed_one_by_one():
    maker = Maker(Random(), is_good=True)
    branch = Branch.model_construct(
        leaves=[maker.leaf(), maker.leaf()], gaps=[None, maker.leaf()], rows=maker.rows()
    )
    Watched.items = []
    asked = "{ leaves { __typename name no: count amount id colour } rows { name ratioOrNone id } }"
    answer = await run(Watched, branch, asked)
    assert answer == await run(StockExecutor, branch, asked)
    assert answer[1] == Watched.items == []


async def test_a_bug_in_the_short_cut_is_an_error_and_not_only_slower():
    branch = Branch.model_construct(leaves=[Maker(Random(), is_good=True).leaf()])
    data, (error,) = await run(Faulty, branch, "{ leaves { name } }")
    assert data.endswith("'branch': None}")
    assert error["message"] == "a bug in the short cut"


async def test_a_directive_that_fails_nulls_no_more_than_by_the_stock_executor():
    branch = Branch.model_construct(leaf_or_none=Maker(Random(), is_good=True).leaf())
    document = parse("query($on: Boolean = true) { branch { leafOrNone { name @include(if: $on) } } }")
    answers = []
    for executor in (Executor, StockExecutor):
        context, variables = {"branch": branch}, {"on": None}
        result = execute(
            SCHEMA, document, context_value=context, variable_values=variables, executor_class=executor
        )
        answer = await result if isawaitable(result) else result
        answers.append((repr(answer.data), [error.formatted for error in answer.errors]))
    assert answers[0] == answers[1]
    assert answers[0][1][0]["path"] == ["branch", "leafOrNone"]
