"""Which workspaces a statement reaches: read from the tree that PostgreSQL's own parser makes of its text.

A cluster keeps each workspace on one node. It asks all nodes for a statement that does not name its
workspaces, and refuses locks and changes that do not name exactly one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
from pglast.parser import ParseError, parse_sql_json

from storage.workspaces.distribution import COLUMN, TENANT_TABLES
from tests.support.statements.statement_trees import (
    ONE,
    SOME,
    Key,
    Levels,
    Node,
    Outputs,
    is_given,
    is_never,
    key_of,
    level_of,
    locked_by,
    name_of,
    outputs_of,
    parts,
    renamed,
    unlimited,
    weaker,
)

TENANTS = frozenset(table.name for table in TENANT_TABLES)
_MENTIONED = re.compile(rf"\b(?:{'|'.join(sorted(TENANTS))})\b")
# What a query lacks that names workspaces by itself, beside rows of several.
APART = "apart, beside several workspaces"
_QUERIES = ("SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt")

Ctes = Mapping[str, Outputs]


class Complaint(NamedTuple):
    """What a statement does with a tenant table, and what it lacks: "without naming workspaces"."""

    table: str
    does: str
    lack: str

    def __str__(self) -> str:
        return f"{self.does} {self.table} {self.lack}"


def complaints_about(text: str) -> list[Complaint]:
    """What a statement does with tenant tables that a cluster would refuse, or ask all nodes for."""
    if not _MENTIONED.search(text):
        return []
    check = _Check()
    try:
        tree = orjson.loads(parse_sql_json(text))
    except ParseError:
        return []  # PostgreSQL refuses it too
    for each in tree["stmts"]:
        if any(kind in each["stmt"] for kind in _QUERIES):
            check.query(each["stmt"], {}, {})
    return check.complaints


@dataclass
class _Scope:
    """One query level: the names of its tables, and which of them are tenant tables.

    `conditions` bind columns; of an outer join, only those of its optional side.
    """

    known: dict[Key, int]
    names: list[str] = field(default_factory=list)
    tables: dict[str, str] = field(default_factory=dict)
    lateral: list[Node] = field(default_factory=list)
    conditions: list[tuple[Node, list[str] | None]] = field(default_factory=list)

    def expose(self, source: Node, outputs: Outputs) -> None:
        """Add the columns of a query among the tables."""
        for column, level in renamed(outputs, source.get("alias", {}).get("colnames")):
            if level:
                self.known[name_of(source), column] = level


class _Check:
    """Walks through one statement. `reached` has a level for each tenant table that it reads."""

    def __init__(self) -> None:
        self.complaints: list[Complaint] = []
        self.reached: list[int] = []

    def query(self, node: Node, outer: Levels, ctes: Ctes) -> Outputs:
        ((kind, query),) = node.items()
        own: dict[str, Outputs] = {}
        for each in query.get("withClause", {}).get("ctes", []):
            cte = each["CommonTableExpr"]
            outputs = self.query(cte["ctequery"], outer, {**ctes, **own, cte["ctename"]: ()})
            own[cte["ctename"]] = renamed(outputs, cte.get("aliascolnames"))
        run = {"SelectStmt": self._select, "InsertStmt": self._insert}.get(kind, self._change)
        return run({part: query[part] for part in query if part != "withClause"}, outer, {**ctes, **own})

    def _select(self, query: Node, outer: Levels, ctes: Ctes) -> Outputs:
        if query["op"] != "SETOP_NONE":
            first, second = (
                self.query({"SelectStmt": query[side]}, outer, ctes) for side in ("larg", "rarg")
            )
            return [
                (name, weaker(one, other)) for (name, one), (_, other) in zip(first, second, strict=False)
            ]
        if "valuesLists" in query:
            self._inside(query, outer, ctes)
            (row, *_) = query["valuesLists"]
            return [(f"column{place}", None) for place, _ in enumerate(row["List"]["items"], start=1)]
        before = len(self.reached)
        scope = self._scope(query.get("fromClause", []), query.get("whereClause"), outer, ctes)
        locked = locked_by(query, scope.names)
        for name, table in () if is_never(query.get("whereClause")) else scope.tables.items():
            does, level = ("locks", ONE) if name in locked else ("reads", SOME)
            self._require(scope, name, table, does, level)
        rest = {part: query[part] for part in query if part != "fromClause"}
        self._inside(rest, scope.known, ctes, beside_several=SOME in self.reached[before:])
        outputs = outputs_of(query.get("targetList", []), scope.known, scope.names)
        return unlimited(outputs) if "limitCount" in query else outputs

    def _insert(self, query: Node, outer: Levels, ctes: Ctes) -> Outputs:
        table, columns = query["relation"]["relname"], query.get("cols", [])
        names = [each["ResTarget"]["name"] for each in columns]
        if table in TENANTS and COLUMN not in names:
            self.complaints.append(Complaint(table, "inserts into", f"without {COLUMN}"))
        values = self.query(query["selectStmt"], outer, ctes) if "selectStmt" in query else ()
        scope = _Scope(dict(outer), [name_of(query["relation"])])
        scope.expose(query["relation"], list(zip(names, (level for _, level in values), strict=False)))
        self._inside(query.get("onConflictClause", {}), scope.known, ctes)
        return self._returned(query, scope)

    def _change(self, query: Node, outer: Levels, ctes: Ctes) -> Outputs:
        target, beside = query["relation"], query.get("fromClause") or query.get("usingClause") or []
        scope = self._scope([{"RangeVar": target}, *beside], query.get("whereClause"), outer, ctes)
        for name, table in scope.tables.items():
            does, level = ("changes", ONE) if name == name_of(target) else ("reads", SOME)
            self._require(scope, name, table, does, level)
        rest = {part: query[part] for part in query if part not in ("fromClause", "usingClause")}
        self._inside(rest, scope.known, ctes)
        return self._returned(query, scope)

    def _returned(self, query: Node, scope: _Scope) -> Outputs:
        return outputs_of(query.get("returningClause", {}).get("exprs", []), scope.known, scope.names)

    def _require(self, scope: _Scope, name: str, table: str, does: str, level: int) -> None:
        reached = scope.known.get((name, COLUMN), 0)
        self.reached.append(reached)
        if reached < level:
            what = "one workspace" if level == ONE else "workspaces"
            self.complaints.append(Complaint(table, does, f"without naming {what}"))

    def _scope(self, sources: Iterable[Node], condition: Node | None, outer: Levels, ctes: Ctes) -> _Scope:
        scope = _Scope(dict(outer))
        for source in sources:
            self._add(source, scope, outer, ctes)
        if condition is not None:
            scope.conditions.append((condition, None))
        self._settle(scope, ctes)
        for source in scope.lateral:
            scope.expose(source, self.query(source["subquery"], scope.known, ctes))
            self._settle(scope, ctes)
        return scope

    def _add(self, source: Node, scope: _Scope, outer: Levels, ctes: Ctes) -> list[str]:
        """Add a table, a query or a join of them to the scope; returns their names in the statement."""
        ((kind, item),) = source.items()
        if kind == "JoinExpr":
            left, right = (self._add(item[side], scope, outer, ctes) for side in ("larg", "rarg"))
            if "quals" in item:
                bound = {"JOIN_LEFT": right, "JOIN_RIGHT": left, "JOIN_FULL": []}.get(item["jointype"])
                scope.conditions.append((item["quals"], bound))
            return left + right
        name = name_of(item)
        scope.names.append(name)
        for hidden in [key for key in scope.known if key[0] == name]:
            del scope.known[hidden]
        if kind == "RangeVar" and item["relname"] in ctes:
            scope.expose(item, ctes[item["relname"]])
        elif kind == "RangeVar" and item["relname"] in TENANTS:
            scope.tables[name] = item["relname"]
        elif kind == "RangeSubselect" and item.get("lateral"):
            scope.lateral.append(item)
        elif kind == "RangeSubselect":
            scope.expose(item, self.query(item["subquery"], outer, ctes))
        return [name]

    def _settle(self, scope: _Scope, ctes: Ctes) -> None:
        """Bind columns by the conditions until nothing more follows from them."""
        before = None
        while before != scope.known:
            before = dict(scope.known)
            for condition, bound in scope.conditions:
                for key, level in list(self._bindings(condition, scope, ctes)):
                    if bound is None or key[0] in bound:
                        scope.known[key] = max(level, scope.known.get(key, 0))

    def _bindings(self, condition: Node, scope: _Scope, ctes: Ctes) -> Iterator[tuple[Key, int]]:
        ((kind, item),) = condition.items()
        if kind == "BoolExpr" and item["boolop"] == "AND_EXPR":
            for each in item["args"]:
                yield from self._bindings(each, scope, ctes)
        elif kind == "BoolExpr" and item["boolop"] == "OR_EXPR":
            branches = [dict(self._bindings(each, scope, ctes)) for each in item["args"]]
            yield from ((key, SOME) for key in branches[0] if all(key in branch for branch in branches))
        elif kind == "A_Expr" and item["name"][-1]["String"]["sval"] == "=":
            yield from _compared(item, scope)
        elif kind == "SubLink" and item["subLinkType"] == "ANY_SUBLINK" and "operName" not in item:
            outputs = _Check().query(item["subselect"], scope.known, ctes)
            for column, (_, level) in zip(parts(item["testexpr"]), outputs, strict=False):
                key = key_of(column, scope.names)
                if key and level:
                    yield key, level

    def _inside(self, node: Any, outer: Levels, ctes: Ctes, *, beside_several: bool = False) -> None:
        """Check the queries in expressions; `beside_several` workspaces, they have to be joined to these."""
        if isinstance(node, list):
            for each in node:
                self._inside(each, outer, ctes, beside_several=beside_several)
        elif isinstance(node, dict) and "SubLink" in node:
            link = node["SubLink"]
            if beside_several and link["subLinkType"] != "ANY_SUBLINK":
                self._refuse_apart(link["subselect"], ctes)
            self.query(link["subselect"], outer, ctes)
            self._inside(link.get("testexpr"), outer, ctes)
        elif isinstance(node, dict):
            self._inside(list(node.values()), outer, ctes, beside_several=beside_several)

    def _refuse_apart(self, query: Node, ctes: Ctes) -> None:
        """Complain about a query on tenant tables that names its workspaces by itself."""
        alone = _Check()
        alone.query(query, {}, ctes)
        if alone.reached and not alone.complaints:
            table = _MENTIONED.findall(str(query))[0]
            self.complaints.append(Complaint(table, "reads", APART))


def _compared(item: Node, scope: _Scope) -> Iterator[tuple[Key, int]]:
    """What an equality binds: `a = b`, rows of them, `a IN (..)` and `a = ANY(..)`."""
    left, right = item["lexpr"], item["rexpr"]
    if item["kind"] == "AEXPR_OP":
        for first, second in zip(parts(left), parts(right), strict=False):
            for column, value in ((first, second), (second, first)):
                key, level = key_of(column, scope.names), level_of(value, scope.known, scope.names)
                if key and level:
                    yield key, level
    elif item["kind"] == "AEXPR_IN":
        rows = [parts(each) for each in right["List"]["items"]]
        for place, column in enumerate(parts(left)):
            key = key_of(column, scope.names)
            if key and all(level_of(row[place], scope.known, scope.names) for row in rows):
                # PostgreSQL makes an equality of a list of one.
                yield key, ONE if len(rows) == 1 else SOME
    elif item["kind"] == "AEXPR_OP_ANY" and is_given(right):
        key = key_of(left, scope.names)
        if key:
            yield key, SOME
