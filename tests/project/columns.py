"""`python -m tests.project.columns [MODULE ...]`: columns and labels that no table or statement has.

mypy takes the columns of a table, keywords for them and the values of a result's rows for `Any`. This reads
the sources, follows names to `table_of(Row)` and to `select(...)`, and compares with the tables.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from tests.project.relations import RECORDS, Kind, Module, Relation

ROOT = Path(__file__).parents[2]
PACKAGES = ("gateway", "rest_compat", "resolvers", "schema", "oauth", "storage")
# Functions that take columns of a table as keywords, each with the place of the table's class; and the
# keywords of their own.
BY_COLUMN = dict.fromkeys(
    (
        "get_for_update",
        "get_visible",
        "insert_row",
        "read_one",
        "rows_with",
        "set_quietly",
        "update_row",
        "update_rows",
    ),
    1,
) | {"new_row": 0}
BY_ROWS = frozenset({"insert_rows", "insert_new_rows", "insert_complete_rows", "insert_new_complete_rows"})
OWN_KEYWORDS = frozenset({"replica", "seen"})
# What a collection of columns has besides them, and what a row of a result has.
OF_COLUMNS = frozenset({"keys", "values", "items", "get", "contains_column"})
# The part of each sort of names that is compared with a table or statement of its own.
LEAST = {"columns": 0.8, "keywords": 0.95, "labels": 0.8, "values": 0.8}
OF_ROWS = frozenset({"_mapping", "_asdict", "_fields", "count", "index", "tuple", "t"})


class Check:
    """The faults of one module, and how many names of each sort were looked up or could not be."""

    def __init__(self, path: Path, source: str) -> None:
        self.module = Module(path, ast.parse(source))
        self.faults: list[str] = []
        self.seen: Counter[str] = Counter()
        self.checked: Counter[str] = Counter()
        self.path = path

    def run(self) -> "Check":
        for node, scope in self.module.nodes():
            if isinstance(node, ast.Attribute):
                self._attribute(node, scope)
            elif isinstance(node, ast.Subscript):
                self._subscript(node, scope)
            elif isinstance(node, ast.Call):
                self._call(node, scope)
        return self

    def _attribute(self, node: ast.Attribute, scope: ast.AST) -> None:
        if _is_columns(node.value):
            if node.attr not in OF_COLUMNS:
                self._look_up("columns", node, node.attr, self.module.relation(node.value.value, scope))
            return
        row = self.module.relation(node.value, scope)
        if row is not None and row.kind is Kind.ROW and node.attr not in OF_ROWS:
            self._look_up("labels", node, node.attr, row)

    def _subscript(self, node: ast.Subscript, scope: ast.AST) -> None:
        if _is_columns(node.value) and isinstance(node.slice, ast.Constant):
            self._look_up("columns", node, node.slice.value, self.module.relation(node.value.value, scope))

    def _call(self, node: ast.Call, scope: ast.AST) -> None:
        name = _name_of(node.func)
        if name in BY_COLUMN or name in BY_ROWS:
            place = BY_COLUMN.get(name, 1)
            model = _name_of(node.args[place]) if len(node.args) > place else ""
            for at, key in _keys(node, rows=name in BY_ROWS):
                if key not in OWN_KEYWORDS:
                    self._look_up("keywords", at, key, RECORDS.get(model))
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ("values", "on_conflict_do_update"):
            relation = self.module.relation(node.func.value, scope)
            if relation is None or relation.kind is not Kind.WRITE:
                if node.func.attr == "values" and not node.args and not node.keywords:
                    return
                relation = None
            for at, key in _written(node):
                self._look_up("values", at, key, relation)

    def _look_up(self, sort: str, node: ast.AST, name: str, relation: Relation | None) -> None:
        self.seen[sort] += 1
        if relation is None or relation.names is None:
            relation = _anything()
        else:
            self.checked[sort] += 1
        if name not in relation.names:
            place = f"{self.path}:{node.lineno}"  # type: ignore[attr-defined]
            hint = _nearest(name, relation.names)
            self.faults.append(f"{place}: {relation.title} has no {name!r}.{hint}")


def _is_columns(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("c", "columns")


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _keys(call: ast.Call, *, rows: bool) -> Iterator[tuple[ast.AST, str]]:
    """The columns that a call writes by: its keywords, and the keys of dictionaries written in it."""
    for keyword in () if rows else call.keywords:
        if keyword.arg is not None:
            yield keyword.value, keyword.arg
        else:
            yield from _keys_of(keyword.value)
    if rows and len(call.args) > 2:
        listed = call.args[2]
        if isinstance(listed, ast.ListComp):
            yield from _keys_of(listed.elt)
        for item in listed.elts if isinstance(listed, ast.List) else ():
            yield from _keys_of(item)


def _written(call: ast.Call) -> Iterator[tuple[ast.AST, str]]:
    for keyword in call.keywords:
        if keyword.arg in ("set_", None):
            yield from _keys_of(keyword.value)
        elif keyword.arg == "index_elements":
            names = keyword.value.elts if isinstance(keyword.value, ast.List | ast.Tuple) else []
            yield from ((each, each.value) for each in names if isinstance(each, ast.Constant))
        elif _name_of(call.func) == "values":
            yield keyword.value, keyword.arg
    for argument in call.args:
        yield from _keys_of(argument)


def _keys_of(node: ast.expr) -> Iterator[tuple[ast.AST, str]]:
    """The keys of a dictionary written here, or of several joined by `|`."""
    if isinstance(node, ast.BinOp):
        yield from _keys_of(node.left)
        yield from _keys_of(node.right)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                yield from _keys_of(value)
            elif isinstance(key, ast.Constant):
                yield key, key.value
    elif isinstance(node, ast.Call) and _name_of(node.func) == "dict":
        yield from ((each.value, each.arg) for each in node.keywords if each.arg)


def _nearest(name: str, names: frozenset[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415

    near = get_close_matches(name, names, 1, 0.5)
    return f" Did you mean {near[0]!r}?" if near else ""


@cache
def _anything() -> Relation:
    """Every column, and every text of the sources: what a table that cannot be told may have."""
    names = {name for record in RECORDS.values() for name in record.names or ()}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                names.add(node.value)
    return Relation(Kind.TABLE, frozenset(names), "the database")


@cache
def sources() -> list[Path]:
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return [path for path in paths if "versions" not in path.parts]


def main(names: Sequence[str] = ()) -> int:
    """The exit code for these modules, or all; prints each fault, or what was looked up.

    Of all modules, fewer than `LEAST` with a table or statement of their own is a fault: the check is blind.
    """
    paths = [path for path in sources() if not names or str(path.relative_to(ROOT)) in names]
    checks = [Check(path.relative_to(ROOT), path.read_text()).run() for path in paths]
    faults = [fault for check in checks for fault in check.faults]
    seen = sum((check.seen for check in checks), Counter())
    checked = sum((check.checked for check in checks), Counter())
    shares = ", ".join(f"{checked[sort]} of {seen[sort]} {sort}" for sort in sorted(seen))
    if not names:
        faults += [
            f"Only {checked[sort]} of {seen[sort]} {sort} are compared with their own table or statement."
            for sort, least in LEAST.items()
            if not checked[sort] >= least * seen[sort] > 0
        ]
    said = f"Compared with their own table or statement: {shares}; the others with all.\n"
    sys.stdout.write("".join(f"{fault}\n" for fault in faults) or said)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
