"""Where REST and the OAuth protocol are served, and the file of REST's description."""

from pathlib import Path

PREFIX = "/api"
PROTOCOL_PREFIX = f"{PREFIX}/oauth2"
OPENAPI_PATH = f"{PREFIX}/openapi.json"
# Made by `make generated`.
OPENAPI_FILE = Path(__file__).with_name("openapi.json")
