"""Compile the modules that the gateway imports, for an image whose file system is read-only.

    python compile_used.py FOLDER ...

Without their bytecode each start would compile them for seconds; that of all modules takes 50 MB. Modules
outside the folders stay as they are.
"""

import importlib
import pkgutil
import py_compile
import sys
from pathlib import Path

# Imported only when they are needed.
LATE = (
    "aiobotocore.session",
    "aiosmtplib",
    "aiosqlite",
    "asyncpg",
    "redis.asyncio",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "storage.migrations.online",
    "storage.migrations.run",
    "urllib.request",
)


def main() -> None:
    folders = tuple(f"{Path(folder).resolve()}/" for folder in sys.argv[1:])
    for name in LATE:
        importlib.import_module(name)
    gateway = importlib.import_module("gateway")
    for module in pkgutil.walk_packages(gateway.__path__, "gateway."):
        importlib.import_module(module.name)
    files = {str(getattr(module, "__file__", None)) for module in sys.modules.values()}
    # Alembic reads these from their folder.
    versions = importlib.import_module("storage.migrations.versions")
    files |= {str(file) for folder in versions.__path__ for file in Path(folder).glob("*.py")}
    for file in sorted(files):
        if file.endswith(".py") and file.startswith(folders):
            # The files never change, so a start has nothing to compare.
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile(file, doraise=True, invalidation_mode=mode)


if __name__ == "__main__":
    main()
