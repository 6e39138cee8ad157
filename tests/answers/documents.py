"""Random requests for large answers: documents with aliases, fragments and connections, and lists of REST."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from graphql import (
    GraphQLObjectType,
    GraphQLSyntaxError,
    get_named_type,
    get_nullable_type,
    get_operation_ast,
    is_list_type,
    parse,
)

from gateway.settings.limits import LimitSettings
from resolvers.graph.root import make_schema
from resolvers.graph.survey.cost import survey
from rest_compat.api import documented_routes
from schema.errors import TooComplex
from schema.kit.pages import MOST_PER_PAGE, ListQuery

SCHEMA = make_schema()._schema
QUERY: Any = SCHEMA.query_type
MOST_CALLS = LimitSettings.model_fields["rate_limit"].default
ROOTS = (
    "shares",
    "customers",
    "events",
    "members",
    "customFields",
    "fileShareSessions",
    "fileSharePayments",
    "metrics",
)
METRICS = 'startDate: "2025-01-01", endDate: "2025-12-31", timezone: "UTC", interval: HOUR'
DEEPEST = 7
MOST_ALIASES = 59
# What makes objects large, or leads to what does.
HEAVY = {
    "data",
    "description",
    "metadata",
    "attachedCustomFields",
    "customField",
    "properties",
    "members",
    "periods",
}
# Each of these lists what a workspace has; the answer to `export` is a file.
LISTS = sorted(
    route.path_format
    for route in documented_routes()
    if route.method == "GET"
    and "{" not in route.path_format
    and any(
        parameter.place == "filters" and issubclass(parameter.annotation, ListQuery)
        for parameter in route.operation.parameters
    )
)
RANGES = "start_date=2025-01-01&end_date=2025-12-31&timezone=UTC&interval=hour"


@dataclass
class Drawn:
    """A document in the making, with what is left to it of aliases."""

    random: Random
    aliases: int = MOST_ALIASES
    fragments: list[str] = field(default_factory=list)

    def document(self) -> str:
        roots = " ".join(self._root() for _ in range(self.random.choice((1, 1, 1, 2, 3))))
        return " ".join([f"{{ {roots} }}", *self.fragments])

    def _root(self) -> str:
        name = self.random.choice(ROOTS)
        limit = self.random.choice((1, 10, MOST_PER_PAGE, MOST_PER_PAGE))
        arguments = METRICS if name == "metrics" else f"limit: {limit}"
        return f"{self._alias()}: {name}({arguments}) {self._below(QUERY.fields[name].type, 1)}"

    def _below(self, type_: Any, depth: int) -> str:
        """A selection of the type's fields, some of them many times; empty for values."""
        named = get_named_type(type_)
        if not isinstance(named, GraphQLObjectType):
            return ""
        is_deep = depth >= DEEPEST
        names = [name for name, each in named.fields.items() if not (is_deep and _is_object(each.type))]
        chosen = self.random.sample(names, min(len(names), self.random.randint(1, 6)))
        heavy = [name for name in names if name in HEAVY and name not in chosen]
        chosen += [name for name in heavy if self.random.random() < 0.7]
        selected = " ".join(self._field(named, name, depth) for name in chosen) or "__typename"
        if self.random.random() < 0.2:
            fragment = f"F{len(self.fragments)}"
            self.fragments.append(f"fragment {fragment} on {named.name} {{ {selected} }}")
            return f"{{ ...{fragment} }}"
        return f"{{ {selected} }}"

    def _field(self, owner: GraphQLObjectType, name: str, depth: int) -> str:
        declared = owner.fields[name]
        lists = is_list_type(get_nullable_type(declared.type)) or not _is_object(declared.type)
        times = self.random.choice((1, 1, 1, 2, 10, 58)) if lists else 1
        limit = f"(limit: {self.random.choice((1, 10, 100))})" if "limit" in declared.args else ""
        below = self._below(declared.type, depth + 1)
        written = [f"{name}{limit} {below}"]
        while len(written) < times and self.aliases > 0:
            written.append(f"{self._alias()}: {name}{limit} {below}")
        return " ".join(written)

    def _alias(self) -> str:
        self.aliases -= 1
        return f"a{self.aliases}" + "_" * self.random.choice((0, 0, 90))


def affordable_document(random: Random) -> str:
    """A document that costs no more than a workspace has in a minute: another one is refused unread."""
    while _cost(text := Drawn(random).document()) > MOST_CALLS:
        pass
    return text


def _cost(text: str) -> int:
    """In calls; 1 for what is refused whatever it costs."""
    try:
        document = parse(text)
        operation = get_operation_ast(document)
        assert operation is not None
        return survey(SCHEMA, document, operation, {}).cost
    except (GraphQLSyntaxError, TooComplex):
        return 1


def _is_object(type_: Any) -> bool:
    return isinstance(get_named_type(type_), GraphQLObjectType)


def drawn_path(random: Random) -> str:
    """A list of REST, or metrics as JSON or as a file."""
    path = random.choice([*LISTS, *LISTS, "/api/metrics/", "/api/metrics/export"])
    if path.startswith("/api/metrics/"):
        return f"{path}?{RANGES}"
    return f"{path}?limit={random.choice((1, 10, 50, MOST_PER_PAGE))}"
