"""The endpoints of OAuth 2.0 and OpenID Connect: no operations, so their entries are written here."""

from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter

from resolvers.operations.answers import JSON
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
from rest_compat.openapi.schemas import REF, Schema
from rest_compat.openapi.security import BEARER, CLIENT, OPENID
from rest_compat.protocols.oauth import INTROSPECT, REVOKE, TOKEN, USERINFO
from rest_compat.protocols.registration import CLIENT_PATH, REGISTER_PATH
from rest_compat.routing.paths import PROTOCOL_PREFIX

PROTOCOL_TAG = {
    "name": "OAuth",
    "description": "OAuth 2.0 and OpenID Connect: tokens, their state, the user's claims and the "
    "registration of clients. `/.well-known/openid-configuration` has the other addresses.",
}
_FORM = "application/x-www-form-urlencoded"
_BODIES = (
    *(TokenRequest, TokenAnswer, TokenForm, Introspection, UserInfo),
    *(ClientMetadata, ClientReplacement, ClientInformation, OAuthError),
)
# A public client names itself in the form and sends no secret.
_BY_CLIENT: list[dict[str, list[str]]] = [{CLIENT: []}, {}]
_BY_USER: list[dict[str, list[str]]] = [{BEARER: []}, {}]
_REFUSALS = {
    400: "The request is invalid.",
    401: "The credential is missing or invalid.",
    403: "The credential does not suffice.",
    413: "The body is too large.",
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


def protocol_schemas() -> dict[str, Schema]:
    """The bodies of the protocol's requests and answers."""
    schemas: dict[str, Schema] = {}
    for model in _BODIES:
        schema = TypeAdapter(model).json_schema(ref_template=f"{REF}{{model}}")
        schemas |= schema.pop("$defs", {}) | {model.__name__: schema}
    return schemas


def protocol_paths() -> dict[str, Any]:
    """The entries of the protocol's paths."""
    return {
        PROTOCOL_PREFIX + TOKEN: {
            "post": _entry(
                *("exchange_token", "Exchanges a code or a refresh token for tokens (RFC 6749)."),
                body=_body(TokenRequest, _FORM, _EXCHANGE),
                answer=TokenAnswer,
                security=_BY_CLIENT,
            )
        },
        PROTOCOL_PREFIX + REVOKE: {
            "post": _entry(
                *("revoke_token", "Ends a token, and with a refresh token its whole grant (RFC 7009)."),
                body=_body(TokenForm, _FORM),
                security=_BY_CLIENT,
            )
        },
        PROTOCOL_PREFIX + INTROSPECT: {
            "post": _entry(
                *("introspect_token", "The state of a confidential client's own token (RFC 7662)."),
                body=_body(TokenForm, _FORM),
                answer=Introspection,
                security=_BY_CLIENT,
            )
        },
        PROTOCOL_PREFIX + USERINFO: {
            "get": _userinfo("get_userinfo", "The claims about the access token's user."),
            "post": _userinfo("post_userinfo", "The same as `GET` (OpenID Connect Core 5.3)."),
        },
        REGISTER_PATH: {
            "post": _entry(
                *("register_client", "Registers a client (RFC 7591), by default for a signed-in user."),
                body=_body(ClientMetadata, JSON, _REGISTRATION),
                answer=ClientInformation,
                status=201,
                security=_BY_USER,
            )
        },
        f"{CLIENT_PATH}{{client_id}}": _registration(),
    }


def _userinfo(name: str, description: str) -> dict[str, Any]:
    return _entry(name, description, answer=UserInfo, security=[{OPENID: ["openid"]}])


def _registration() -> dict[str, Any]:
    """The entry of a client that manages itself by its registration token."""
    by_token: list[dict[str, list[str]]] = [{BEARER: []}]
    client_id = {"name": "client_id", "in": "path", "required": True, "schema": {"type": "string"}}
    entries = {
        "get": _entry(
            *("get_registration", "A client's registration (RFC 7592), by its registration token."),
            answer=ClientInformation,
            security=by_token,
        ),
        "put": _entry(
            *("replace_registration", "Replaces a client's metadata; what is left out has its default."),
            body=_body(ClientReplacement, JSON),
            answer=ClientInformation,
            security=by_token,
        ),
        "delete": _entry(
            *("delete_registration", "Deletes a client, and ends all its tokens."),
            status=204,
            security=by_token,
        ),
    }
    return {method: {"parameters": [client_id], **entry} for method, entry in entries.items()}


def _entry(
    name: str,
    description: str,
    *,
    security: list[dict[str, list[str]]],
    body: dict[str, Any] | None = None,
    answer: type | None = None,
    status: int = 200,
) -> dict[str, Any]:
    success: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if answer is not None:
        success["content"] = _content(answer, JSON)
    elif status == 200:
        success["content"] = {JSON: {"schema": {"type": "object"}}}
    refusals = {
        str(code): {"description": text, "content": _content(OAuthError, JSON)}
        for code, text in _REFUSALS.items()
    }
    return {
        "tags": [PROTOCOL_TAG["name"]],
        "summary": name.replace("_", " ").capitalize(),
        "description": description,
        "operationId": name,
        "security": security,
        **({"requestBody": body} if body else {}),
        "responses": {str(status): success, **refusals},
    }


def _body(model: type, media_type: str, example: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"required": True, "content": _content(model, media_type, example)}


def _content(model: type, media_type: str, example: dict[str, Any] | None = None) -> dict[str, Any]:
    shown = {} if example is None else {"example": example}
    return {media_type: {"schema": {"$ref": REF + model.__name__}, **shown}}
