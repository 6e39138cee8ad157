"""Imports all tables, so that `METADATA` is complete for migrations and tests."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from sqlmodel import SQLModel

from storage.tables.base import TenantRow

for module in walk_packages([str(Path(__file__).parent)], "storage.tables."):
    if module.name != __name__:
        import_module(module.name)

METADATA = SQLModel.metadata
MODELS: dict[str, type[SQLModel]] = {
    str(mapper.local_table.name): mapper.class_  # type: ignore[attr-defined]
    for mapper in SQLModel._sa_registry.mappers
}


def _below(model: type[TenantRow]) -> Iterator[type[TenantRow]]:
    for each in model.__subclasses__():
        yield each
        yield from _below(each)


COUNTED_MODELS = tuple(model for model in _below(TenantRow) if model.counted)
