"""`/api/oauth2/`: the endpoints of OAuth 2.0 and OpenID Connect, in those protocols' formats."""

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from oauth.authentication import authenticate
from oauth.credentials import bearer_of
from oauth.principals import PrincipalKind
from oauth.provider.clients import GrantType
from oauth.provider.endpoints import answer_introspection, answer_revocation, answer_token
from oauth.provider.keys import signing_key
from oauth.provider.protocol import ProtocolRequest, Reply
from oauth.provider.subjects import find_subject
from oauth.scopes import Scope
from resolvers.operations.bodies import read_body
from resolvers.operations.context import Context
from rest_compat.routing.paths import PROTOCOL_PREFIX
from schema.errors import (
    Failure,
    InsufficientScope,
    Invalid,
    InvalidToken,
    NotPermitted,
    Unauthorized,
    problem,
)

TOKEN, REVOKE, INTROSPECT, USERINFO = "/token", "/revoke", "/introspect", "/userinfo"
# These endpoints check the credentials of clients themselves.
OWN_AUTHENTICATION = tuple(PROTOCOL_PREFIX + path for path in (TOKEN, REVOKE, INTROSPECT, USERINFO))
MOST_PARAMETERS = 50
_FORM = "application/x-www-form-urlencoded"
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}

Handler = Callable[[Request, Context], Awaitable[Response]]


def protocol_routes() -> list[Route]:
    """The endpoints below `/api/oauth2`."""
    return [
        Route(PROTOCOL_PREFIX + TOKEN, endpoint(exchange), methods=["POST"]),
        Route(PROTOCOL_PREFIX + REVOKE, endpoint(revoke), methods=["POST"]),
        Route(PROTOCOL_PREFIX + INTROSPECT, endpoint(introspect), methods=["POST"]),
        Route(PROTOCOL_PREFIX + USERINFO, endpoint(get_userinfo), methods=["GET", "POST"]),
    ]


def endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """The handler as an endpoint whose failures have `error` and `error_description` (RFC 6749 5.2)."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request, request.app.state.context(request))
        except Failure as failure:
            return refusal(failure)

    return answer


def refusal(failure: Failure) -> JSONResponse:
    """The failure in the protocol's format; invalid input is its `invalid_request`."""
    headers = {**NO_STORE, **failure.headers}
    if isinstance(failure, Invalid):
        description = "; ".join(str(entry["msg"]) for entry in failure.problems)
        return JSONResponse({"error": "invalid_request", "error_description": description}, 400, headers)
    body = {"error": failure.code, "error_description": str(failure)}
    return JSONResponse(body, int(failure.status), headers)


async def exchange(request: Request, ctx: Context) -> Response:
    """Tokens for a code or a refresh token; rate-limited by client and address."""
    asked = await _read(request, ctx)
    services = ctx.services
    client_id = asked.named_client_id[:64]
    await ctx.caller.budget.charge(f"oauth:{client_id}:{ctx.caller.address}", 1, None, restricted=True)
    key = None
    if asked.payload.grant_type == GrantType.AUTHORIZATION_CODE:
        key = await signing_key(services.database, services.secret_key)
    async with services.database.write() as connection:
        return _as_response(await answer_token(connection, services.auth_url, key, asked))


async def revoke(request: Request, ctx: Context) -> Response:
    asked = await _read(request, ctx)
    async with ctx.services.database.write() as connection:
        return _as_response(await answer_revocation(connection, ctx.services.auth_url, asked))


async def introspect(request: Request, ctx: Context) -> Response:
    asked = await _read(request, ctx)
    async with ctx.services.database.snapshot() as connection:
        return _as_response(await answer_introspection(connection, ctx.services.auth_url, asked))


async def get_userinfo(request: Request, ctx: Context) -> Response:
    """The claims about the access token's user that its scopes allow (OpenID Connect Core 5.3)."""
    token = bearer_of(request.headers.get("authorization", ""))
    principal = None if token is None else await authenticate(ctx.services.database, token)
    ctx.caller.noted_principal = principal
    subject = principal.subject if principal else ctx.caller.address
    roof = principal.roof if principal else None
    await ctx.caller.budget.charge(subject, 1, None, restricted=False, roof=roof)
    if token is None:
        raise Unauthorized
    if principal is None:
        raise InvalidToken
    if principal.kind is not PrincipalKind.OAUTH_TOKEN:
        raise NotPermitted("This endpoint requires an OAuth access token.")
    if Scope.OPENID not in principal.scopes:
        raise InsufficientScope([Scope.OPENID])
    user_id = principal.user_id or principal.maker_user_id
    async with ctx.services.database.snapshot() as connection:
        grantor = await find_subject(connection, user_id, principal.workspace_id) if user_id else None
    if grantor is None:
        raise InvalidToken
    return JSONResponse(grantor.claims(principal.scopes), headers=NO_STORE)


async def _read(request: Request, ctx: Context) -> ProtocolRequest:
    """The request with its form, charged to its address. Raises `Invalid`, `TooLarge` or `RateLimited`."""
    await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=False)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        raise Invalid([problem(("body",), f"The body should be {_FORM}.", "content_type")])
    body = await read_body(request)
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS
        )
    except ValueError:
        raise Invalid([problem(("body",), "The body is not a valid form.", "form")]) from None
    return ProtocolRequest(request.method, pairs, request.headers)


def _as_response(reply: Reply) -> Response:
    return JSONResponse(reply.body, reply.status, reply.headers)
