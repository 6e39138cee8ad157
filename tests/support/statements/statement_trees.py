"""The parts of the trees that PostgreSQL's own parser makes of statements, as its JSON has them."""

from collections.abc import Mapping, Sequence
from typing import Any

Node = Mapping[str, Any]
# A column, by the name of its table in the statement.
Key = tuple[str, str]
# How a column is restricted: to one value that comes with the statement, or to a list of values.
ONE, SOME = 2, 1
Level = int | None
Levels = Mapping[Key, int]
# The columns of a query's result: their names and levels.
Outputs = Sequence[tuple[str, Level]]


def bare(node: Node) -> Node:
    """The expression inside of type casts."""
    while "TypeCast" in node:
        node = node["TypeCast"]["arg"]
    return node


def parts(node: Node) -> Sequence[Node]:
    """The expressions of a row, or the one there is."""
    each: Sequence[Node] = node["RowExpr"]["args"] if "RowExpr" in node else [node]
    return each


def words(nodes: Sequence[Node] | None) -> list[str]:
    return [node["String"]["sval"] for node in nodes or ()]


def name_of(source: Node) -> str:
    """The name by which a statement refers to a table."""
    name: str = source.get("alias", {}).get("aliasname", source.get("relname", ""))
    return name


def key_of(node: Node, names: Sequence[str]) -> Key | None:
    """The column that the expression is; one without a table belongs to the only table in `names`."""
    fields = bare(node).get("ColumnRef", {}).get("fields", [])
    if not fields or "A_Star" in fields[-1]:
        return None
    path = words(fields)
    if len(path) == 1:
        return (names[0], path[0]) if len(names) == 1 else None
    return path[-2], path[-1]


def level_of(node: Node, known: Levels, names: Sequence[str]) -> Level:
    node = bare(node)
    if "ParamRef" in node or "A_Const" in node:
        return ONE
    key = key_of(node, names)
    return known.get(key) if key else None


def weaker(first: Level, second: Level) -> Level:
    return min(first or 0, second or 0) or None


def is_given(node: Node) -> bool:
    """Whether a list holds nothing but values that come with the statement."""
    node = bare(node)
    elements = node.get("A_ArrayExpr", {}).get("elements", [])
    return "ParamRef" in node or "A_Const" in node or (elements != [] and all(map(is_given, elements)))


def is_never(condition: Node | None) -> bool:
    """Whether a condition is the constant `false`, or that and others: nothing is read then."""
    given = condition or {}
    if given.get("BoolExpr", {}).get("boolop") == "AND_EXPR":
        return any(map(is_never, given["BoolExpr"]["args"]))
    return given.get("A_Const", {}).get("boolval") == {}


def outputs_of(targets: Sequence[Node], known: Levels, names: Sequence[str]) -> Outputs:
    """The columns of a list like that after SELECT; of a `*`, those that are restricted."""
    outputs: list[tuple[str, Level]] = []
    for each in targets:
        target = each["ResTarget"]
        fields = target["val"].get("ColumnRef", {}).get("fields", [])
        if fields and "A_Star" in fields[-1]:
            owners = words(fields[:-1]) or names
            outputs += [(column, level) for (owner, column), level in known.items() if owner in owners]
        else:
            name = target.get("name") or (words(fields)[-1] if fields else "")
            outputs.append((name, level_of(target["val"], known, names)))
    return outputs


def unlimited(outputs: Outputs) -> Outputs:
    """What a cluster knows of the columns of a query with a LIMIT: not that they have one value.

    Statements on several workspaces are for one database: on a cluster, each workspace is read by itself.
    """
    return [(name, None if level == ONE else level) for name, level in outputs]


def renamed(outputs: Outputs, names: Sequence[Node] | None) -> Outputs:
    """The columns with the names that an alias gives to the first of them."""
    given = words(names)
    return [
        (given[place] if place < len(given) else name, level) for place, (name, level) in enumerate(outputs)
    ]


def locked_by(query: Node, names: Sequence[str]) -> frozenset[str]:
    """The tables, by their names in the statement, whose rows a query locks."""
    locked: set[str] = set()
    for each in query.get("lockingClause", []):
        tables = each["LockingClause"].get("lockedRels", [])
        locked |= {table["RangeVar"]["relname"] for table in tables} or set(names)
    return frozenset(locked)
