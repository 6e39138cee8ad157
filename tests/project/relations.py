"""What an expression of the sources stands for: a table, a statement, its result or a row, with its names."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from pathlib import Path

from sqlmodel import SQLModel

from storage.rows.row_values import fields_of
from storage.tables import registry as _all_tables  # noqa: F401

ROOT = Path(__file__).parents[2]
Scope = ast.AST | None


class Kind(Enum):
    """What has the names: a table or what is selected from like one, a statement, its result, or a row."""

    TABLE = auto()
    SELECTION = auto()
    WRITE = auto()
    RESULT = auto()
    ROW = auto()


@dataclass(frozen=True)
class Relation:
    """`names` is None where they cannot be told."""

    kind: Kind
    names: frozenset[str] | None
    title: str


def _records() -> dict[str, Relation]:
    found, queue = {}, [SQLModel]
    while queue:
        model = queue.pop()
        queue += model.__subclasses__()
        if hasattr(model, "__table__"):
            found[model.__name__] = Relation(
                Kind.TABLE, frozenset(fields_of(model)), f"the table {model.__table__.name}"
            )
    return found


# Each table, by the name of its class.
RECORDS = _records()
ALIASES = frozenset({"alias", "subquery", "cte", "lateral", "tablesample"})
ONE = frozenset({"first", "one", "one_or_none", "fetchone"})
MANY = frozenset({"all", "fetchall", "unique", "partitions", "yield_per"})
_OF_SELECTIONS = (
    "where filter having order_by group_by limit offset distinct join outerjoin select_from with_for_update"
    " correlate execution_options with_only prefix_with union union_all"
)
_OF_WRITES = "values on_conflict_do_update on_conflict_do_nothing from_select ordered_values add_cte"
SAME = frozenset([*_OF_SELECTIONS.split(), *_OF_WRITES.split()])
WRITES = frozenset({"insert", "update", "upsert"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Module:
    """One module's names; a name is looked up in its function, then here, then where it is imported from."""

    def __init__(self, path: Path, tree: ast.Module) -> None:
        self.path, self.tree = path, tree
        self.parents: dict[ast.AST, Scope] = {}
        self.values: dict[tuple[Scope, str], list[tuple[str, ast.expr]]] = {}
        self.imports: dict[str, tuple[str, str]] = {}
        self.defined: dict[str, ast.AST] = {}
        self._pending: set[tuple[Scope, str]] = set()
        self._known: dict[tuple[Scope, str], Relation | None] = {}
        self._enter()

    def nodes(self) -> Iterator[tuple[ast.AST, Scope]]:
        """Each node with the function that it is in."""
        stack: list[tuple[ast.AST, Scope]] = [(self.tree, None)]
        while stack:
            node, scope = stack.pop()
            yield node, scope
            inner = node if isinstance(node, FUNCTIONS) else scope
            stack += [(child, inner) for child in ast.iter_child_nodes(node)]

    def _enter(self) -> None:
        for node, scope in self.nodes():
            if isinstance(node, FUNCTIONS):
                self.parents[node] = scope
                for each in (*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs):
                    self.values.setdefault((node, each.arg), []).append(("unknown", ast.Constant(None)))
                if scope is None and not isinstance(node, ast.Lambda):
                    self.defined[node.name] = node
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    self.imports[alias.asname or alias.name] = (node.module, alias.name)
            else:
                for target, value, how in _bindings(node):
                    self._bind(target, value, scope, how)

    def _bind(self, target: ast.expr, value: ast.expr, scope: Scope, how: str = "is") -> None:
        if isinstance(target, ast.Name):
            self.values.setdefault((scope, target.id), []).append((how, value))
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if how == "is" and isinstance(value, ast.Tuple) else [None] * len(target.elts)
            if len(parts) != len(target.elts):
                parts = [None] * len(target.elts)
            for each, part in zip(target.elts, parts, strict=True):
                self._bind(each, part or value, scope, "is" if part is not None else "unknown")

    def relation(self, node: ast.expr, scope: Scope) -> Relation | None:
        """What the expression stands for; None if that cannot be told."""
        if isinstance(node, ast.Name):
            return self._named(node.id, scope)
        if isinstance(node, ast.Await):
            return self.relation(node.value, scope)
        if isinstance(node, ast.NamedExpr):
            return self.relation(node.value, scope)
        if isinstance(node, ast.IfExp):
            return _either([self.relation(each, scope) for each in (node.body, node.orelse)])
        if isinstance(node, ast.Subscript):
            return _item(self.relation(node.value, scope))
        return self._called(node, scope) if isinstance(node, ast.Call) else None

    def _named(self, name: str, scope: Scope) -> Relation | None:
        while (scope, name) not in self.values:
            if scope is None:
                return self._imported(name)
            scope = self.parents[scope]
        key = (scope, name)
        if key not in self._known:
            if key in self._pending:
                return None
            self._pending.add(key)
            bound = [each for each in self.values[key] if not _mentions(each[1], name)] or self.values[key]
            self._known[key] = _either([self._bound(how, value, scope) for how, value in bound])
            self._pending.discard(key)
        return self._known[key]

    def _bound(self, how: str, value: ast.expr, scope: Scope) -> Relation | None:
        if how == "unknown":
            return None
        relation = self.relation(value, scope)
        return _item(relation) if how == "item" else relation

    def _imported(self, name: str) -> Relation | None:
        if name not in self.imports:
            return None
        source, original = self.imports[name]
        module = _module(source)
        return None if module is None else module._named(original, None)

    def _called(self, call: ast.Call, scope: Scope) -> Relation | None:
        function = call.func
        if isinstance(function, ast.Name):
            return self._function(function.id, call, scope)
        if not isinstance(function, ast.Attribute):
            return None
        name = function.attr
        if name in ("execute", "stream") and call.args:
            return _as(Kind.RESULT, self.relation(call.args[0], scope), (Kind.SELECTION,))
        if name == "select" and not call.args and isinstance(function.value, ast.Name):
            return _as(Kind.SELECTION, self.relation(function.value, scope), (Kind.TABLE,))
        base = self.relation(function.value, scope)
        if base is None:
            return None
        if name in ALIASES:
            return _as(Kind.TABLE, base, (Kind.TABLE, Kind.SELECTION))
        if base.kind is Kind.RESULT:
            return replace(base, kind=Kind.ROW) if name in ONE else base if name in MANY else None
        if name == "returning" and base.kind is Kind.WRITE:
            return self._selected(call.args, scope)
        if name == "add_columns" and base.kind is Kind.SELECTION:
            return _joined(base, self._selected(call.args, scope))
        return base if name in SAME and base.kind in (Kind.SELECTION, Kind.WRITE) else None

    def _function(self, name: str, call: ast.Call, scope: Scope) -> Relation | None:
        if name == "table_of" and call.args:
            return RECORDS.get(getattr(call.args[0], "id", ""))
        if name == "aliased" and call.args:
            return self.relation(call.args[0], scope)
        if name == "select":
            return self._selected(call.args, scope)
        if name in WRITES and call.args:
            return _as(Kind.WRITE, self.relation(call.args[-1], scope), (Kind.TABLE,))
        return self._returned(name)

    def _selected(self, arguments: Iterable[ast.expr], scope: Scope) -> Relation:
        names: set[str] | None = set()
        for each in arguments:
            added = self._columns(each, scope)
            names = None if names is None or added is None else names | added
        return Relation(Kind.SELECTION, None if names is None else frozenset(names), "the statement")

    def _columns(self, node: ast.expr, scope: Scope) -> frozenset[str] | None:
        """The names that an argument of `select` adds."""
        if isinstance(node, ast.Starred):
            inner = node.value
            if isinstance(inner, ast.Attribute) and inner.attr in ("c", "columns"):
                return getattr(self.relation(inner.value, scope), "names", None)
            if isinstance(inner, ast.Tuple | ast.List):
                return self._selected(inner.elts, scope).names
            return None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "label":
            named = node.args[0] if node.args else None
            return frozenset({named.value}) if isinstance(named, ast.Constant) else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            return frozenset({node.attr}) if node.value.attr in ("c", "columns") else None
        relation = self.relation(node, scope)
        if relation is not None and relation.kind is Kind.TABLE:
            return relation.names
        return None

    @cache  # noqa: B019
    def _returned(self, name: str) -> Relation | None:
        """What a function of a module returns, if all its returns say the same."""
        function = self.defined.get(name)
        if function is None:
            source, original = self.imports.get(name, ("", ""))
            module = _module(source)
            return None if module is None else module._returned(original)
        returns = [
            node for node in ast.walk(function) if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom)
        ]
        if not returns or not all(isinstance(node, ast.Return) and node.value for node in returns):
            return None
        return _either([self.relation(node.value, function) for node in returns])


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, str]]:
    """What a statement assigns, to what, and how: the value itself, an item of it, or what cannot be told."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value, "is") for target in node.targets)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield node.target, node.value, "is"
    elif isinstance(node, ast.AugAssign):
        yield node.target, node.value, "unknown"
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield node.target, node.iter, "item"
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, node.context_expr, "unknown"


@cache
def _module(name: str) -> Module | None:
    path = ROOT / f"{name.replace('.', '/')}.py"
    return Module(path, ast.parse(path.read_text())) if name and path.exists() else None


def _mentions(node: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def _item(relation: Relation | None) -> Relation | None:
    """What iterating over a result, or indexing it, gives."""
    return _as(Kind.ROW, relation, (Kind.RESULT,))


def _as(kind: Kind, relation: Relation | None, kinds: tuple[Kind, ...]) -> Relation | None:
    return replace(relation, kind=kind) if relation is not None and relation.kind in kinds else None


def _joined(one: Relation, other: Relation) -> Relation:
    names = None if one.names is None or other.names is None else one.names | other.names
    return replace(one, names=names)


def _either(relations: list[Relation | None]) -> Relation | None:
    """One that has the names of all; None if one cannot be told, or they are of different kinds."""
    kinds = {relation.kind for relation in relations if relation is not None}
    if None in relations or len(kinds) != 1:
        return None
    found = relations[0]
    for each in relations[1:]:
        found = _joined(found, each)
    return found
