"""Private names of libraries: each may change with any release, so the list only shrinks."""

import ast
from collections.abc import Iterator

from tests.project.test_architecture import OURS, name_of

# What each is for, and why nothing public will do.
USED = {
    # asyncpg gives its socket nowhere, and sets no limits to how long a silent connection lives.
    ("storage/engine/engines.py", "_transport"),
    # `PreparedStatement.fetch` reaches the protocol by four calls, a tenth of a short read.
    ("storage/engine/connections.py", "_protocol"),
    ("storage/engine/connections.py", "_state"),
    # SQLAlchemy's class for each of asyncpg's errors; it translates only errors of its own statements.
    ("storage/engine/connections.py", "_handle_exception"),
    # Strawberry's public operation name is that of the first operation if the request has none.
    ("resolvers/graph/survey/extension.py", "_provided_operation_name"),
    # graphql-core's schema, which validates and surveys documents; Strawberry has no public name for it.
    ("resolvers/graph/execution/core_schema.py", "_schema"),
}
# Documented in spite of their underscore.
PUBLIC = {"_asdict", "_fields", "_getframe", "_make", "_replace"}


def defined_in(tree: ast.Module) -> set[str]:
    """The names that a module gives to functions, classes, variables and attributes."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                names.add(name)
    return names


def private_names(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """The private attributes and imports of a module, and whether each is of the module's own objects."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = node.value
            yield node.attr, isinstance(owner, ast.Name) and owner.id in ("self", "cls")
        elif isinstance(node, ast.ImportFrom):
            yield from ((each.name, False) for each in node.names)


def test_private_names_of_libraries_are_in_the_list():
    trees = {name_of(path): ast.parse(path.read_text()) for path in OURS}
    own = {name: defined_in(tree) for name, tree in trees.items()}
    anywhere = set().union(*own.values())
    used = {
        (module, name)
        for module, tree in trees.items()
        for name, is_own in private_names(tree)
        if name.startswith("_") and not name.startswith("__") and name not in PUBLIC
        # A class may inherit a name from another module of ours.
        if name not in (anywhere if is_own else own[module])
    }
    assert used == USED
