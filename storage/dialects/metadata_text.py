"""SQL that the two databases spell differently."""

import json
from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import Text


class MetadataText(GenericFunction[str]):
    """`metadata_text(column, key)`: one metadata value as text, null where the key is absent.

    Strings as they are, numbers and booleans as JSON writes them: `1`, `2.5`, `true`.
    """

    name = "metadata_text"
    type = Text()
    inherit_cache = True


@compiles(MetadataText, "postgresql")
def _in_postgresql(element: MetadataText, compiler: Any, **options: Any) -> str:
    column, key = (compiler.process(clause, **options) for clause in element.clauses)
    return f"(({column})::json ->> {key})"


def metadata_text(document: str | None, key: str) -> str | None:
    """The same in SQLite, where `Database` registers it."""
    value = json.loads(document).get(key) if document else None
    return value if value is None or isinstance(value, str) else json.dumps(value)
