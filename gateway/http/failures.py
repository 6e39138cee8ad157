"""Failures as the clients of each path expect them: of REST, of GraphQL or of OAuth."""

from typing import Any

import orjson

from gateway.http.api_paths import is_graphql
from resolvers.operations.answers import Answer
from rest_compat.api import failed
from rest_compat.oauth_protocol import OWN_AUTHENTICATION
from rest_compat.oauth_registration import REGISTER_PATH
from schema.errors import Failure

_OAUTH_ERRORS = (*OWN_AUTHENTICATION, REGISTER_PATH)


def rendered(path: str, failure: Failure) -> Answer:
    """The answer to a request that failed before, or outside, an endpoint that answers its own failures."""
    if path.startswith(_OAUTH_ERRORS):
        body: dict[str, Any] = {"error": failure.code, "error_description": str(failure)}
    elif is_graphql(path):
        body = {"data": None, "errors": [{"message": str(failure), "extensions": failure.extensions}]}
    else:
        return failed(failure)
    return Answer(int(failure.status), orjson.dumps(body), failure.headers)
