"""The paths of REST and of the OAuth protocol, and the file of the OpenAPI document."""

from pathlib import Path

PREFIX = "/api"
PROTOCOL_PREFIX = f"{PREFIX}/oauth2"
OPENAPI_PATH = f"{PREFIX}/openapi.json"
# Where generators look for it.
ROOT_OPENAPI_PATH = "/openapi.json"
# Made by `make generated`.
OPENAPI_FILE = Path(__file__).parents[1] / "openapi.json"
