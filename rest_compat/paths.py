"""Where REST and the OAuth protocol are served."""

PREFIX = "/api"
PROTOCOL_PREFIX = f"{PREFIX}/oauth2"
OPENAPI_PATH = f"{PREFIX}/openapi.json"
