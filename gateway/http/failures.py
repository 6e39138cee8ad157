"""Failures as the clients of each path expect them: of REST, of GraphQL or of OAuth."""

from typing import Any

import orjson

from gateway.http.paths.api_paths import is_graphql
from resolvers.graph.http.media_types import accepted_type
from resolvers.operations.answers import JSON, Answer
from resolvers.operations.http.sent_headers import SentHeaders
from rest_compat.api import failed
from rest_compat.protocols.oauth import OWN_AUTHENTICATION
from rest_compat.protocols.registration import REGISTER_PATH
from schema.errors import Failure

_OAUTH_ERRORS = (*OWN_AUTHENTICATION, REGISTER_PATH)


def rendered(path: str, sent: SentHeaders, failure: Failure) -> Answer:
    """The answer to a request that failed before, or outside, an endpoint that answers its own failures."""
    media_type = JSON
    if path.startswith(_OAUTH_ERRORS):
        body: dict[str, Any] = {"error": failure.code, "error_description": str(failure)}
    elif is_graphql(path):
        body = {"errors": [{"message": failure.message, "extensions": failure.extensions}]}
        media_type = accepted_type(sent.get(b"accept", b"").decode("latin-1"))
    else:
        return failed(failure)
    return Answer(int(failure.status), orjson.dumps(body), failure.headers, media_type)
