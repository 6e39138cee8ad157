"""An error for each problem of a document, at the argument or field that the problem is about."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from graphql import (
    ArgumentNode,
    FieldNode,
    GraphQLError,
    ListValueNode,
    Node,
    ObjectFieldNode,
    ObjectValueNode,
    VariableDefinitionNode,
)

from schema.errors import MOST_PROBLEMS, AnswerTooLarge, Invalid, Problem

# The attribute in which a variable of a template keeps the literal that it replaces.
LITERAL = "literal"


def cause_of(error: GraphQLError) -> Exception | None:
    """What was raised, however often graphql-core wrapped it."""
    cause = error.original_error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    return cause


def separated(errors: Iterable[GraphQLError]) -> list[GraphQLError]:
    """The errors, with one for each problem of those that refuse the arguments of a field."""
    return [each for error in errors for each in _separated(error)]


def refusals_of(field: FieldNode, invalid: Invalid, most: int) -> list[GraphQLError]:
    """An error for each of the first `most` problems of the arguments; the last one counts the others."""
    listed = invalid.problems[:most]
    return _errors_of(field, Invalid(listed, invalid.more + len(invalid.problems) - len(listed)), None)


def not_said(errors: Sequence[GraphQLError], refused: Sequence[FieldNode]) -> list[GraphQLError]:
    """The errors of graphql-core that are about something else than the arguments of the refused fields."""
    return [error for error in errors if not (refused and _is_said(error, refused))]


def bounded(errors: Sequence[GraphQLError]) -> list[GraphQLError]:
    """About 100 errors: the first of each field, and others of the first fields.

    The last one of a field counts those of it that are left out.
    """
    if len(errors) <= MOST_PROBLEMS:
        return [*errors]
    firsts: dict[Any, int] = {}
    for number, error in enumerate(errors):
        firsts.setdefault(_place_of(error), number)
    kept, left = set(firsts.values()), MOST_PROBLEMS - len(firsts)
    others = (number for number in range(len(errors)) if number not in kept)
    kept = kept.union(islice(others, max(left, 0)))
    left_out: Counter[Any] = Counter()
    for number, error in enumerate(errors):
        if number not in kept:
            left_out[_place_of(error)] += 1 + _more_of(error)
    lasts = {_place_of(errors[number]): number for number in sorted(kept)}
    return [
        _counting(errors[number], left_out.get(place, 0) if lasts[place] == number else 0)
        for number in sorted(kept)
        for place in (_place_of(errors[number]),)
    ]


def _place_of(error: GraphQLError) -> tuple[str | int, ...]:
    return tuple(error.path or ())


def _more_of(error: GraphQLError) -> int:
    cause = cause_of(error)
    return cause.more if isinstance(cause, Invalid) else 0


def _counting(error: GraphQLError, left_out: int) -> GraphQLError:
    """The error, which counts this many more problems."""
    cause = cause_of(error)
    if left_out and isinstance(cause, Invalid):
        cause.more += left_out
    return error


def _separated(error: GraphQLError) -> list[GraphQLError]:
    cause, field = cause_of(error), error.nodes[0] if error.nodes else None
    if isinstance(cause, Invalid) and not isinstance(cause, AnswerTooLarge) and isinstance(field, FieldNode):
        return _errors_of(field, cause, error.path)
    return [error]


def _errors_of(field: FieldNode, invalid: Invalid, path: Sequence[str | int] | None) -> list[GraphQLError]:
    last = len(invalid.problems) - 1
    return [
        GraphQLError(
            str(entry["msg"]),
            node_of(field, entry),
            path=path,
            original_error=Invalid([entry], invalid.more if number == last else 0),
        )
        for number, entry in enumerate(invalid.problems)
    ]


def node_of(field: FieldNode, entry: Problem) -> Node:
    """What is written at the problem's place, or at the nearest one around it."""
    place: Node = field
    for part in entry["loc"]:
        inside = place.value if isinstance(place, ArgumentNode | ObjectFieldNode) else place
        below = _part_of(inside, part)
        if below is None:
            break
        place = below
    if isinstance(place, ArgumentNode | ObjectFieldNode) and entry["type"] != "extra_forbidden":
        return place.value
    return place


def _part_of(node: Node, part: str | int) -> Node | None:
    node = getattr(node, LITERAL, node)
    if isinstance(node, ListValueNode):
        return node.values[part] if isinstance(part, int) and part < len(node.values) else None
    named: Sequence[ArgumentNode | ObjectFieldNode] = ()
    if isinstance(node, FieldNode):
        named = node.arguments or ()
    elif isinstance(node, ObjectValueNode):
        named = node.fields
    return next((each for each in named if each.name.value == part), None)


def _is_said(error: GraphQLError, refused: Sequence[FieldNode]) -> bool:
    first = error.nodes[0] if error.nodes else None
    if first is None or first.loc is None or isinstance(first, VariableDefinitionNode):
        return True
    places = [each.loc for field in refused for each in (field.arguments or ()) if each.loc]
    if any(place.start <= first.loc.start < place.end for place in places):
        return True
    # Of a field itself, graphql-core says which arguments it lacks.
    return any(first is field for field in refused)
