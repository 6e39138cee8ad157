"""The credentials that operations accept, as OpenAPI declares them."""

from oauth.principals import PrincipalKind
from oauth.scopes import CLIENT_SCOPES
from resolvers.operations.declaration import Operation

BEARER, OPENID, CLIENT = "bearer", "openid", "client"
SCHEMES = {
    BEARER: {
        "type": "http",
        "scheme": "bearer",
        "description": "A workspace, personal, OAuth or customer access token.",
    },
    OPENID: {
        "type": "openIdConnect",
        "openIdConnectUrl": "/.well-known/openid-configuration",
        "description": "An access token of an OAuth client, with the scopes that its user granted.",
    },
    CLIENT: {
        "type": "http",
        "scheme": "basic",
        "description": "A confidential OAuth client: its `client_id` and `client_secret`.",
    },
}


def security_of(operation: Operation) -> list[dict[str, list[str]]]:
    """The alternatives, of which a request needs one; empty for public operations."""
    if not operation.kinds:
        return []
    alternatives: list[dict[str, list[str]]] = [{BEARER: []}]
    if PrincipalKind.OAUTH_TOKEN in operation.kinds:
        scopes = operation.sufficient_scopes
        granted = [scope.value for scope in scopes if scope in CLIENT_SCOPES]
        alternatives += [{OPENID: [scope]} for scope in granted]
        if not scopes:
            alternatives.append({OPENID: []})
    return alternatives
