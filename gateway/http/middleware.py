"""Request ids, authentication and unexpected errors, for every request."""

import re
from collections.abc import Callable
from uuid import uuid4

import orjson
import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.http.addresses import client_subject
from gateway.http.api_paths import is_api, is_graphql
from gateway.http.route_templates import RouteTemplates, method_of
from gateway.rate_limits.budget import RequestBudget
from gateway.web.kit.cookies import SESSION, Cookies
from gateway.web.kit.origins import is_same_origin
from oauth.authentication import authenticate, authenticate_session
from oauth.credentials import bearer_of
from resolvers.operations.admission import admit
from resolvers.operations.context import Caller
from rest_compat.oauth_protocol import OWN_AUTHENTICATION
from rest_compat.oauth_registration import CLIENT_PATH, REGISTER_PATH
from schema.errors import Failure, Internal, Invalid, InvalidToken, problem
from storage.database import Database

log = structlog.get_logger()

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_OWN_AUTHENTICATION = (*OWN_AUTHENTICATION, CLIENT_PATH)
_OAUTH_ERRORS = (*OWN_AUTHENTICATION, REGISTER_PATH)


class CallerMiddleware:
    """Puts the `caller` into each request's state, and answers unexpected errors.

    `make_budget` creates the request's budget, which adds its headers to those of the response.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        database: Database,
        make_budget: Callable[[dict[str, str]], RequestBudget],
        trusted_proxies: tuple[object, ...],
        own_origin: str,
        templates: RouteTemplates,
    ) -> None:
        self._app = app
        self._database = database
        self._make_budget = make_budget
        self._trusted = trusted_proxies
        self._own_origin = own_origin
        self._templates = templates
        self._cookies = Cookies(secure=own_origin.startswith("https:"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        sent_id = headers.get("x-request-id", "")
        request_id = sent_id if _REQUEST_ID.fullmatch(sent_id) else uuid4().hex
        response_headers: dict[str, str] = {"X-Request-ID": request_id}
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                mutable = MutableHeaders(scope=message)
                for name, value in response_headers.items():
                    mutable[name] = value
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                caller = await self._make_caller(scope, headers, request_id, response_headers)
                scope.setdefault("state", {})["caller"] = caller
                await self._app(scope, receive, send_with_headers)
                for action in caller.after_response:
                    await action()
            except Failure as failure:
                await _render(scope, failure)(scope, receive, send_with_headers)
            except ClientDisconnect:
                pass  # The access log writes a line without a status.
            except Exception:
                log.exception("unforeseen", path=self._templates.of(scope), method=method_of(scope))
                if started:
                    raise
                await _render(scope, Internal(request_id))(scope, receive, send_with_headers)

    async def _make_caller(
        self, scope: Scope, headers: Headers, request_id: str, response_headers: dict[str, str]
    ) -> Caller:
        peer = HTTPConnection(scope).client
        address = client_subject(
            peer.host if peer else None,
            headers.getlist("x-forwarded-for"),
            self._trusted,  # type: ignore[arg-type]
        )
        budget = self._make_budget(response_headers)
        credential = bearer_of(headers.get("authorization", "")) if _takes_bearer(scope["path"]) else None
        principal = await authenticate(self._database, credential) if credential is not None else None
        if credential is not None and principal is None:
            await budget.charge(address, 1, None, restricted=False)
            raise InvalidToken
        if credential is None and (session := self._session(scope, headers)) is not None:
            # An ended session is not an error: browsers keep sending its cookie.
            principal, credential = await authenticate_session(self._database, session), session
        try:
            key = _idempotency_key(scope, headers)
        except Invalid:
            await admit(Caller(principal, budget, address, request_id), [])
            raise
        return Caller(
            principal=principal,
            budget=budget,
            address=address,
            request_id=request_id,
            idempotency_key=key,
            credential=credential,
        )

    def _session(self, scope: Scope, headers: Headers) -> str | None:
        """The session in the cookie, accepted only in requests from our own pages."""
        if not _takes_bearer(scope["path"]) or "authorization" in headers:
            return None
        if not is_same_origin(headers, scope["scheme"], self._own_origin):
            return None
        return self._cookies.read(HTTPConnection(scope), SESSION)


def _takes_bearer(path: str) -> bool:
    return is_api(path) and not path.startswith(_OWN_AUTHENTICATION)


def _idempotency_key(scope: Scope, headers: Headers) -> str | None:
    key = headers.get("idempotency-key")
    if key is None or scope["method"] not in ("POST", "PATCH"):
        return None
    if not _IDEMPOTENCY_KEY.fullmatch(key):
        message = "An Idempotency-Key is 1 to 255 visible ASCII characters"
        raise Invalid([problem(("header", "Idempotency-Key"), message, "idempotency_key")])
    return key


def _render(scope: Scope, failure: Failure) -> Response:
    body = failure.body
    if scope["path"].startswith(_OAUTH_ERRORS):
        body = {"error": failure.code, "error_description": str(failure)}
    elif is_graphql(scope["path"]):
        body = {"data": None, "errors": [{"message": str(failure), "extensions": failure.extensions}]}
    return Response(orjson.dumps(body), int(failure.status), failure.headers, media_type="application/json")
