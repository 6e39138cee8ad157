"""`metadata_text`, a SQL function that each database spells differently."""

import json
from functools import lru_cache
from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import Text


class MetadataText(GenericFunction[str]):
    """`metadata_text(column, key)`: one metadata value as text, null if the key is absent.

    Strings are unchanged; numbers and booleans are written as in JSON: `1`, `2.5`, `true`.
    """

    name = "metadata_text"
    type = Text()
    inherit_cache = True


@compiles(MetadataText, "postgresql")
def _in_postgresql(element: MetadataText, compiler: Any, **options: Any) -> str:
    column, key = (compiler.process(clause, **options) for clause in element.clauses)
    return f"(({column})::json ->> {key})"


@lru_cache(maxsize=128)
def _written(key: str) -> str:
    """The key as it is in a document; see `JsonColumn`."""
    return json.dumps(key, ensure_ascii=False)


def metadata_text(document: str | None, key: str) -> str | None:
    """The function for SQLite, which `Database` registers."""
    # Most documents that a filter reads lack the key, and finding that out takes a third of reading them.
    if not document or _written(key) not in document:
        return None
    value = json.loads(document).get(key)
    return value if value is None or isinstance(value, str) else json.dumps(value)
