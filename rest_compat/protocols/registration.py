"""`/api/oauth2/register`: clients register and manage themselves (RFC 7591 and 7592)."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError
from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from oauth.credentials import bearer_of, digest, is_client_id, kind_of
from oauth.principals import Principal
from oauth.provider.clients import RESPONSE_TYPE, AuthMethod, GrantType, issue_client_credential
from oauth.provider.grants import GRANT_TYPES
from oauth.scopes import OPENID_SCOPES, Scope
from resolvers.credentials.access_tokens import USER_KINDS
from resolvers.credentials.oauth_clients import check_scopes, create_client, delete_client
from resolvers.operations.bodies import parse_json, read_body
from resolvers.operations.context import Context
from resolvers.operations.limits.admission import Demand, admit
from rest_compat.protocols.oauth import NO_STORE, endpoint
from rest_compat.routing.paths import PROTOCOL_PREFIX
from schema.credentials.oauth_clients import OAuthClientCreate
from schema.errors import Invalid, InvalidToken, Problem
from schema.kit.problems import problems_of
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.rows.rows import first_of, table_of, update_row, values_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_clients import OAuthClientRow

REGISTER = "/register"
REGISTER_PATH = PROTOCOL_PREFIX + REGISTER
# Below it, clients prove themselves by their registration token, which the endpoint checks itself.
CLIENT_PATH = f"{REGISTER_PATH}/"
_READ_ONLY = (
    "registration_access_token",
    "registration_client_uri",
    "client_secret_expires_at",
    "client_id_issued_at",
)
_ADDRESSES = ("client_uri", "policy_uri", "tos_uri")
_clients, _credentials = table_of(OAuthClientRow), table_of(CredentialRow)


class MetadataRefused(Exception):
    """The client's metadata is invalid; `code` is RFC 7591's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def registration_routes(*, open_to_all: bool) -> list[Route]:
    """The routes; with `open_to_all`, registering a client requires no user."""

    async def register(request: Request, ctx: Context) -> Response:
        if open_to_all and ctx.caller.principal is None:
            await admit(ctx.caller, [], restricted=True)
        else:
            await admit(ctx.caller, [Demand(Scope.OAUTH_CLIENTS_WRITE, USER_KINDS, fresh=True)])
        try:
            data, method = _read_metadata(parse_json(await read_body(request)))
            if ctx.caller.principal is not None:
                _check_scopes(ctx.caller.principal, data)
        except MetadataRefused as refused:
            return _refusal(refused)
        user_id = ctx.caller.principal.user_id if ctx.caller.principal else None
        async with ctx.services.database.write() as connection:
            secret, row = await create_client(
                connection,
                data,
                token_endpoint_auth_method=method,
                user_id=user_id,
                maker_user_id=user_id,
            )
            kind = CredentialKind.REGISTRATION_TOKEN
            token = await issue_client_credential(connection, kind, row.id)
        response = _information(ctx, row, token.text)
        if secret is not None:
            response |= {"client_secret": secret, "client_secret_expires_at": 0}
        return JSONResponse(response, 201, NO_STORE)

    return [
        Route(REGISTER_PATH, endpoint(register), methods=["POST"]),
        Route(f"{CLIENT_PATH}{{client_id}}", endpoint(manage), methods=["GET", "PUT", "DELETE"]),
    ]


async def manage(request: Request, ctx: Context) -> Response:
    """A client reads, replaces or deletes its registration with its registration token."""
    await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=False)
    token = bearer_of(request.headers.get("authorization", ""))
    body = parse_json(await read_body(request)) if request.method == "PUT" else None
    async with ctx.services.database.write() as connection:
        row = await _find(connection, request.path_params["client_id"], token) if token else None
        if row is None or token is None:
            raise InvalidToken
        if request.method == "DELETE":
            await delete_client(connection, row)
            return Response(status_code=204, headers=NO_STORE)
        if request.method == "PUT":
            try:
                row = await _replace(connection, row, body)
            except MetadataRefused as refused:
                return _refusal(refused)
        return JSONResponse(_information(ctx, row, token), headers=NO_STORE)


async def _find(connection: Connection, client_id: str, token: str) -> OAuthClientRow | None:
    """The client, locked; None if the token is not its registration token."""
    if not is_client_id(client_id) or kind_of(token) is not CredentialKind.REGISTRATION_TOKEN:
        return None
    statement = (
        select(_clients)
        .join(_credentials, _credentials.c.oauth_client_id == _clients.c.id)
        .where(
            _clients.c.client_id == client_id,
            _clients.c.deleted_at.is_(None),
            _credentials.c.hash == digest(token),
            _credentials.c.revoked_at.is_(None),
        )
        .with_for_update(of=_clients)
    )
    return await first_of(connection, OAuthClientRow, statement)


async def _replace(connection: Connection, row: OAuthClientRow, sent: Any) -> OAuthClientRow:
    """RFC 7592 2.2: omitted fields return to their defaults."""
    if not isinstance(sent, dict) or sent.get("client_id") != row.client_id:
        raise MetadataRefused("invalid_request", "Send the client's own client_id.")
    if any(name in sent for name in _READ_ONLY):
        raise MetadataRefused("invalid_request", f"An update cannot contain: {', '.join(_READ_ONLY)}.")
    data, method = _read_metadata(sent)
    if (method == AuthMethod.NONE) != (row.token_endpoint_auth_method == AuthMethod.NONE):
        message = "A client cannot change between public and confidential: register another one."
        raise MetadataRefused("invalid_client_metadata", message)
    changes = data.model_dump(exclude={"is_public", "workspace_id", "scopes"})
    return await update_row(
        connection,
        OAuthClientRow,
        row,
        **changes,
        scopes=sorted(set(data.scopes)),
        token_endpoint_auth_method=method,
    )


def _read_metadata(sent: Any) -> tuple[OAuthClientCreate, str]:
    """The client in our own form, and its authentication method. Unknown fields are ignored."""
    if not isinstance(sent, dict):
        raise MetadataRefused("invalid_client_metadata", "The body should be a JSON object.")
    method = sent.get("token_endpoint_auth_method", AuthMethod.CLIENT_SECRET_BASIC)
    if method not in list(AuthMethod):
        message = f"token_endpoint_auth_method should be one of: {', '.join(AuthMethod)}."
        raise MetadataRefused("invalid_client_metadata", message)
    _check_list(sent, "grant_types", GrantType.AUTHORIZATION_CODE, GRANT_TYPES)
    _check_list(sent, "response_types", RESPONSE_TYPE, [RESPONSE_TYPE])
    scope = sent.get("scope", " ".join(sorted(OPENID_SCOPES)))
    values = {
        "redirect_uris": sent.get("redirect_uris", []),
        "name": sent.get("client_name") or _name_of(sent.get("redirect_uris")),
        "scopes": scope.split() if isinstance(scope, str) else scope,
        "is_public": method == AuthMethod.NONE,
        **{name: sent.get(name) for name in _ADDRESSES},
    }
    try:
        return OAuthClientCreate(**values), method
    except ValidationError as error:
        raise _refused(problems_of(error)) from None


def _check_list(sent: dict[str, Any], name: str, required: str, allowed: Sequence[str]) -> None:
    """Raises `MetadataRefused` if the list lacks `required`, its default, or has a value not allowed."""
    values = sent.get(name, [required])
    if not isinstance(values, list) or required not in values or any(one not in allowed for one in values):
        message = f"{name} should contain {required} and only values of: {', '.join(allowed)}."
        raise MetadataRefused("invalid_client_metadata", message)


def _check_scopes(principal: Principal, data: OAuthClientCreate) -> None:
    try:
        check_scopes(principal, data.scopes, ("scopes",))
    except Invalid as invalid:
        raise _refused(invalid.problems) from None


def _name_of(redirect_uris: Any) -> str:
    """The name of a client that sent none: the host of its first redirect_uri."""
    first = redirect_uris[0] if isinstance(redirect_uris, list) and redirect_uris else None
    try:
        host = urlsplit(first).hostname if isinstance(first, str) else None
    except ValueError:
        host = None
    return (host or "")[:256] or "Unnamed application"


def _refused(problems: list[Problem]) -> MetadataRefused:
    is_address = any(entry["loc"][0] == "redirect_uris" for entry in problems)
    names = {"name": "client_name", "scopes": "scope"}
    message = "; ".join(
        f"{names.get(entry['loc'][0], entry['loc'][0])}: {entry['msg']}" for entry in problems
    )
    return MetadataRefused("invalid_redirect_uri" if is_address else "invalid_client_metadata", message)


def _refusal(refused: MetadataRefused) -> JSONResponse:
    body = {"error": refused.code, "error_description": str(refused)}
    return JSONResponse(body, 400, NO_STORE)


def _information(ctx: Context, row: OAuthClientRow, token: str) -> dict[str, Any]:
    values = values_of(row)
    response = {
        "client_id": row.client_id,
        "client_id_issued_at": int(row.created_at.timestamp()),
        "registration_access_token": token,
        "registration_client_uri": f"{ctx.services.base_url}/oauth2{REGISTER}/{row.client_id}",
        "client_name": row.name,
        "redirect_uris": row.redirect_uris,
        "scope": " ".join(row.scopes),
        "token_endpoint_auth_method": row.token_endpoint_auth_method,
        "grant_types": list(GRANT_TYPES),
        "response_types": [RESPONSE_TYPE],
    }
    return response | {name: values[name] for name in _ADDRESSES if values[name] is not None}
