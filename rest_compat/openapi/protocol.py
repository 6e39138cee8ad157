"""The endpoints of OAuth 2.0 and OpenID Connect: no operations, so their entries are written here."""

from typing import Any

from resolvers.operations.answers import JSON
from rest_compat.openapi.answers import answers
from rest_compat.openapi.entries import Security, content, entry, success
from rest_compat.openapi.failures import headers_of
from rest_compat.openapi.protocol_bodies import (
    ClientInformation,
    ClientMetadata,
    ClientReplacement,
    Introspection,
    OAuthError,
    TokenAnswer,
    TokenForm,
    TokenRequest,
    UserInfo,
)
from rest_compat.openapi.schemas.plain import REF
from rest_compat.openapi.security import BEARER, CLIENT, OPENID
from rest_compat.protocols.oauth import INTROSPECT, REVOKE, TOKEN, USERINFO
from rest_compat.protocols.registration import CLIENT_PATH, REGISTER_PATH
from rest_compat.routing.endpoint import EMPTY
from rest_compat.routing.paths import PROTOCOL_PREFIX

PROTOCOL_TAG = {
    "name": "OAuth",
    "description": "OAuth 2.0 and OpenID Connect: tokens, their state, the user's claims and the "
    "registration of clients. `/.well-known/openid-configuration` has the other addresses.",
}
_FORM = "application/x-www-form-urlencoded"
BODIES = (
    *(TokenRequest, TokenAnswer, TokenForm, Introspection, UserInfo),
    *(ClientMetadata, ClientReplacement, ClientInformation, OAuthError),
)
# A public client names itself in the form and sends no secret.
_BY_CLIENT: Security = [{CLIENT: []}, {}]
_REFUSALS = {
    400: "The request is invalid.",
    401: "The credential is missing or invalid.",
    403: "The credential does not suffice.",
    413: "The body is too large.",
    415: "The body is compressed.",
    429: "Too many requests: `Retry-After` has the seconds to wait.",
    500: "An unexpected error.",
    503: "A service that the gateway depends on is down.",
}
_EXCHANGE = {
    "grant_type": "authorization_code",
    "code": "dg_ac_...",
    "redirect_uri": "https://app.example.com/callback",
    "code_verifier": "at-least-43-characters-that-only-the-client-knows",
    "client_id": "dg_ci_...",
}
_REGISTRATION = {
    "client_name": "Bookkeeper",
    "redirect_uris": ["https://app.example.com/callback"],
    "scope": "openid shares:read",
    "token_endpoint_auth_method": "none",
}
_CLIENT_ID = {
    "name": "client_id",
    "in": "path",
    "required": True,
    "description": "The public name of the client, `dg_ci_...`.",
    "schema": {"type": "string"},
}


def protocol_paths() -> dict[str, Any]:
    """The entries of the protocol's paths."""
    return _token_paths() | _registration_paths()


def _token_paths() -> dict[str, Any]:
    userinfo: dict[str, Any] = {"answer": UserInfo, "security": [{OPENID: ["openid"]}]}
    return {
        PROTOCOL_PREFIX + TOKEN: {
            "post": _entry(
                "exchange_token",
                "Exchanges a code or a refresh token for tokens (RFC 6749).",
                body=_body(TokenRequest, _FORM, _EXCHANGE),
                answer=TokenAnswer,
            )
        },
        PROTOCOL_PREFIX + REVOKE: {
            "post": _entry(
                "revoke_token",
                "Ends a token, and with a refresh token its whole grant (RFC 7009).",
                body=_body(TokenForm, _FORM),
            )
        },
        PROTOCOL_PREFIX + INTROSPECT: {
            "post": _entry(
                "introspect_token",
                "The state of a confidential client's own token (RFC 7662).",
                body=_body(TokenForm, _FORM),
                answer=Introspection,
            )
        },
        PROTOCOL_PREFIX + USERINFO: {
            "get": _entry("get_userinfo", "The claims about the access token's user.", **userinfo),
            "post": _entry("post_userinfo", "The same as `GET` (OpenID Connect Core 5.3).", **userinfo),
        },
    }


def _registration_paths() -> dict[str, Any]:
    """Registration, and the client that manages itself by its registration token."""
    managed: dict[str, Any] = {"security": [{BEARER: []}], "parameters": [_CLIENT_ID]}
    return {
        REGISTER_PATH: {
            "post": _entry(
                "register_client",
                "Registers a client (RFC 7591), by default for a signed-in user.",
                body=_body(ClientMetadata, JSON, _REGISTRATION),
                answer=ClientInformation,
                status=201,
                security=[{BEARER: []}, {}],
            )
        },
        f"{CLIENT_PATH}{{client_id}}": {
            "get": _entry(
                "get_registration",
                "A client's registration (RFC 7592), by its registration token.",
                answer=ClientInformation,
                **managed,
            ),
            "put": _entry(
                "replace_registration",
                "Replaces a client's metadata; what is left out has its default.",
                body=_body(ClientReplacement, JSON),
                answer=ClientInformation,
                **managed,
            ),
            "delete": _entry(
                "delete_registration", "Deletes a client, and ends all its tokens.", status=204, **managed
            ),
        },
    }


def _entry(
    name: str, description: str, *, answer: type | None = None, status: int = 200, **parts: Any
) -> dict[str, Any]:
    shown = {"type": "object"} if answer is None else _reference(answer)
    body = None if status in EMPTY else content(shown, JSON, answers().get(name))
    responses = {str(status): success(status, body)}
    for code, text in _REFUSALS.items():
        responses[str(code)] = {"description": text, "content": _body(OAuthError, JSON)}
    for number, response in responses.items():
        response["headers"] = headers_of(int(number))
    parts = {"security": _BY_CLIENT, **parts}
    return entry(PROTOCOL_TAG["name"], name, description, responses=responses, **parts)


def _body(model: type, media_type: str, example: Any = None) -> dict[str, Any]:
    return content(_reference(model), media_type, example)


def _reference(model: type) -> dict[str, str]:
    return {"$ref": REF + model.__name__}
