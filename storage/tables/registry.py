"""Imports all tables, so that `METADATA` is complete for migrations and tests."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from sqlmodel import SQLModel

from storage.tables.base import TenantRow

for module in iter_modules([str(Path(__file__).parent)]):
    if module.name != "registry":
        import_module(f"storage.tables.{module.name}")

METADATA = SQLModel.metadata
COUNTED_MODELS = tuple(model for model in TenantRow.__subclasses__() if model.counted)
