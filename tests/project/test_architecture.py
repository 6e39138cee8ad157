"""The rules of the tree, kept by the tests: what imports what, how long things are, what inputs are."""

import ast
import inspect
import pkgutil
import re
from datetime import date, datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin
from uuid import UUID

import strawberry
from graphql import GraphQLObjectType, is_list_type, is_non_null_type
from importlinter.application.use_cases import lint_imports
from importlinter.configuration import configure
from pydantic import BeforeValidator, Strict

import schema
from resolvers.graph.execution.fields import OPERATION
from resolvers.graph.root import make_schema
from schema.kit.base import Filters, Input
from schema.kit.links import SCOPE

ROOT = Path(__file__).parents[2]
PACKAGES = ("gateway", "rest_compat", "resolvers", "schema", "oauth", "storage")
# The objects and lists that can be null although they need no scope.
NULLABLE = {
    "CustomFieldProperties.options",
    "Event.cost",
    "Event.customer",
    "File.upload",
    "Metrics.comparison",
    "OAuthClient.createdBy",
    "PortalSession.member",
    "Viewer.user",
    "Viewer.workspace",
    "WebhookDelivery.attempts",
    "Workspace.returnUrlSchemes",
    "WorkspaceAccessToken.createdBy",
    "WorkspaceInvitation.invitedBy",
    "WorkspaceMember.invitedBy",
}
MODULES = [
    path
    for package in (*PACKAGES, "tests")
    for path in sorted((ROOT / package).rglob("*.py"))
    if "versions" not in path.parts
]
OURS = [path for path in MODULES if ROOT / "tests" not in path.parents]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_each_package_imports_only_those_below_it(monkeypatch):
    monkeypatch.chdir(ROOT)
    # Its command also sets up logging for the whole process.
    configure()
    assert lint_imports(cache_dir=None)


def test_a_module_fits_in_300_lines():
    faults = [name_of(path) for path in MODULES if path.read_text().count("\n") > 300]
    assert not faults, "\n".join(faults)


def test_a_function_fits_on_a_screen():
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    faults = [
        f"{name_of(path)}: {node.name}"
        for path in OURS
        for node in ast.walk(parsed(path))
        if isinstance(node, functions) and node.end_lineno - node.lineno >= 50
    ]
    assert not faults, "\n".join(faults)


def test_a_module_says_what_it_is_for_and_an_init_is_empty():
    inits = [path for path in OURS if path.name == "__init__.py"]
    faults = [name_of(path) for path in inits if path.read_text()]
    assert not faults, "\n".join(faults)
    others = [path for path in OURS if path not in inits]
    faults = [name_of(path) for path in others if not ast.get_docstring(parsed(path))]
    assert not faults, "\n".join(faults)


def test_only_the_sealing_signs_or_encrypts():
    """Signatures of others, which are checked by their public keys, are not made with a secret."""
    signing = {"hmac", "itsdangerous", "jwcrypto", "nacl"}
    ciphers = ("cryptography.fernet", "cryptography.hazmat.primitives.ciphers")
    derivations = ("cryptography.hazmat.primitives.kdf", "cryptography.hazmat.primitives.hmac")
    faults = [
        f"{name_of(path)}: {name}"
        for path in OURS
        if path != ROOT / "storage" / "sealing.py"
        for name in names_used(path)
        if name.split(".")[0] in signing or name.startswith((*ciphers, *derivations))
    ]
    assert not faults, "\n".join(faults)


def test_nothing_is_hashed_by_sha_1_and_only_parts_of_objects_by_md5():
    """An object store's protocol has MD5 in the ETags of parts, where nothing relies on it."""
    faults = []
    for path in OURS:
        used = {part.lower() for name in names_used(path) for part in name.split(".")}
        if "sha1" in used or re.search(r"[\"']sha-?1[\"']", path.read_text(), re.IGNORECASE):
            faults.append(f"{name_of(path)}: SHA-1")
        if "md5" in used and path.parent != ROOT / "storage" / "objects":
            faults.append(f"{name_of(path)}: MD5")
    assert not faults, "\n".join(faults)


def test_rows_are_read_by_attribute():
    """Dictionaries of rows would hide a misspelt column from the type checker."""
    upper = ("gateway", "oauth", "resolvers", "rest_compat")
    faults = [
        f"{name_of(path)}: {name}"
        for path in OURS
        if path.relative_to(ROOT).parts[0] in upper
        for name in names_used(path)
        if name.endswith(".mappings")
    ]
    assert not faults, "\n".join(faults)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def names_used(path: Path) -> list[str]:
    """Modules and names that are imported, and attributes that are read, with dots between their parts."""
    names = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names.append(ast.unparse(node))
    return names


def inputs() -> list[type[Input]]:
    for module in pkgutil.walk_packages(schema.__path__, "schema."):
        import_module(module.name)
    found, queue = [], [Input]
    while queue:
        model = queue.pop()
        queue += model.__subclasses__()
        if model.__module__.startswith("schema.") and not issubclass(model, Filters):
            found.append(model)
    return found


def test_inputs_do_not_turn_json_types_into_each_other():
    faults = []
    for model in inputs():
        for name, field in model.model_fields.items():
            for bare, metadata in leaves(field.annotation, field.metadata):
                marks = {type(item) for item in metadata}
                if bare in (int, bool, float) and Strict not in marks:
                    faults.append(f"{model.__name__}.{name}: use Int, LongInt or Bool")
                if bare in (UUID, datetime, date) and BeforeValidator not in marks:
                    faults.append(f"{model.__name__}.{name}: use Id or MomentInput")
    assert not faults, "\n".join(faults)


def test_a_field_that_needs_a_scope_can_be_null():
    types = [
        type_ for type_ in make_schema()._schema.type_map.values() if isinstance(type_, GraphQLObjectType)
    ]
    scoped = [
        (type_.name, name)
        for type_ in types
        for name, field in type_.fields.items()
        if not type_.name.startswith("__")
        and {OPERATION, SCOPE} & field.extensions["strawberry-definition"].metadata.keys()
        and is_non_null_type(field.type)
    ]
    # Without the scope a field is null, and what is beside it is answered.
    assert scoped == []


def test_below_the_roots_only_named_objects_and_lists_can_be_null():
    """Everything else that can be null needs a scope; generated clients check each null."""
    nullable = {
        f"{type_.name}.{name}"
        for type_ in make_schema()._schema.type_map.values()
        if isinstance(type_, GraphQLObjectType) and not type_.name.startswith("__")
        for name, field in type_.fields.items()
        if not is_non_null_type(field.type)
        and (is_list_type(field.type) or isinstance(field.type, GraphQLObjectType))
        and not {OPERATION, SCOPE} & field.extensions["strawberry-definition"].metadata.keys()
    }
    # A list that is read on by a cursor is not counted.
    pages = {name for name in nullable if name.endswith("Connection.pagination")}
    assert nullable - pages == NULLABLE


def leaves(annotation: Any, metadata: Any) -> Any:
    """The single values that an annotation is made of, each with what is annotated to it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from leaves(arguments[0], [*metadata, *arguments[1:]])
    elif origin in (Union, UnionType, strawberry.Maybe):
        for item in arguments:
            if item is not NoneType:
                yield from leaves(item, metadata)
    elif origin is list:
        yield from leaves(arguments[0], [])
    elif hasattr(annotation, "__supertype__"):
        yield from leaves(annotation.__supertype__, metadata)
    elif inspect.isclass(annotation):
        yield annotation, metadata
