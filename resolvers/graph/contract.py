"""The GraphQL schema as text: its path, and its file, which `make generated` writes."""

from pathlib import Path

import schema

SCHEMA_PATH = "/schema.graphql"
SCHEMA_FILE = Path(schema.__path__[0]) / "schema.graphql"
