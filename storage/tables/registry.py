"""Imports all tables, so that `METADATA` is complete for migrations and tests."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TypeVar

from sqlmodel import SQLModel

from storage.tables.base import TenantRow

for module in walk_packages([str(Path(__file__).parent)], "storage.tables."):
    if module.name != __name__:
        import_module(module.name)

METADATA = SQLModel.metadata

Model = TypeVar("Model", bound=SQLModel)


def _below(model: type[Model]) -> Iterator[type[Model]]:
    for each in model.__subclasses__():
        yield each
        yield from _below(each)


MODELS: dict[str, type[SQLModel]] = {
    model.__table__.name: model for model in _below(SQLModel) if hasattr(model, "__table__")
}
COUNTED_MODELS = tuple(model for model in _below(TenantRow) if model.counted)
