"""The layer that every HTTP request enters: its id, caller, endpoint, failures, headers and log line.

Operations, GraphQL and `/health` are found in a table and answered here. Pages, protocols and files are
routes of the application behind: it gets the caller, and its answers get the same headers.
"""

import os
import re
from collections.abc import Awaitable, Collection, Iterable
from dataclasses import dataclass
from time import perf_counter, time

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.http.callers import Callers, takes_credentials
from gateway.http.cross_origin import cross_origin, is_cached_publicly, is_shared
from gateway.http.exchange import Exchange
from gateway.http.failures import rendered
from gateway.http.paths.route_table import RouteTable
from gateway.http.paths.route_templates import RouteTemplates
from gateway.http.response_headers import RawHeaders, ResponseHeaders
from gateway.logs.logs import request_id as current_request_id
from gateway.logs.request_lines import RequestLine, RequestLines, logged_method
from gateway.monitoring.watching import PAGE, Labels, Watch, labels_of
from gateway.rate_limits.budget import Budgets
from gateway.web.pages import render_lost
from oauth.assumed import CredentialChanged
from resolvers.operations.answers import Answer, Endpoint
from resolvers.operations.context import Caller, Context, Services
from resolvers.operations.http.sent_headers import SentHeaders, sent_headers
from resolvers.operations.outages import unforeseen
from resolvers.operations.security_events import note_refusals
from schema.errors import LARGEST_ANSWER, AnswerTooLarge, Failure, Internal

log = structlog.get_logger()

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")


@dataclass(frozen=True, slots=True)
class Place:
    """An endpoint at a path; `headers` are those of all its answers. `labels` say what they count for."""

    endpoint: Endpoint
    template: str
    headers: RawHeaders
    takes_credentials: bool
    labels: Labels


class Front:
    """An ASGI application for HTTP around another. `lines` is None if requests are not logged, and `watch` if
    they are not monitored.

    A failure is rendered as the path's clients expect it. An outage of the database is
    answered with 503. Any other error is logged with its stack and answered with the request id; once an
    answer has begun, it is raised and ends the connection.
    """

    def __init__(
        self,
        behind: ASGIApp,
        endpoints: Iterable[tuple[str, str, Endpoint]],
        *,
        services: Services,
        callers: Callers,
        budgets: Budgets,
        headers: ResponseHeaders,
        templates: RouteTemplates,
        lines: RequestLines | None,
        origins: Collection[str],
        watch: Watch | None = None,
        logs_addresses: bool = False,
    ) -> None:
        """`endpoints` are methods, templates of paths, and what answers there; `origins` are those of pages
        that may use the API, or `*`. `logs_addresses` is whether lines have the network address.
        """
        self._behind = behind
        self._services = services
        self._callers = callers
        self._budgets = budgets
        self._headers = headers
        self._templates = templates
        self._lines = lines
        self._logs_addresses = logs_addresses
        self._watch = watch
        self._across_origins = cross_origin(self._serve_across_origins, origins)
        self._table: RouteTable[Place] = RouteTable()
        for method, template, endpoint in endpoints:
            of_place = headers.of(method, template)
            place = Place(endpoint, template, of_place, takes_credentials(template), labels_of(endpoint))
            self._table.add(method, template, place)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        sent, place = sent_headers(scope), self._find(scope)
        if b"origin" in sent and is_shared(scope["path"]):
            return self._across_origins(scope, receive, send)
        if place is None and is_cached_publicly(scope["path"]):
            return self._across_origins(scope, receive, send)
        return self._serve(scope, receive, send, sent, place)

    def _serve_across_origins(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return self._serve(scope, receive, send, sent_headers(scope), self._find(scope))

    async def _serve(
        self, scope: Scope, receive: Receive, send: Send, sent: SentHeaders, place: Place | None
    ) -> None:
        started = perf_counter()
        of_place = self._headers.of(scope["method"], scope["path"]) if place is None else place.headers
        exchange = Exchange(send, sent, _request_id(sent), self._budgets.make(), of_place)
        token = current_request_id.set(exchange.request_id)
        if self._watch is not None:
            method, parent = logged_method(scope["method"]), sent.get(b"traceparent")
            exchange.watched = self._watch.begin(_labels_of(place), method, parent)
        try:
            await self._answer(exchange, scope, receive, sent, place)
        except ClientDisconnect:
            pass  # The line has no status.
        finally:
            current_request_id.reset(token)
            if self._watch is not None:
                seconds = (exchange.began_at or perf_counter()) - started
                self._end(self._watch, exchange, scope, place, seconds)
            if self._lines is not None:
                self._lines.add(self._line(exchange, scope, sent, place, started))

    def _end(
        self, watch: Watch, exchange: Exchange, scope: Scope, place: Place | None, seconds: float
    ) -> None:
        status, watched = exchange.status, exchange.watched
        if watched is not None:
            watched.end(status, self._template(scope, place))
            status = None if status is None else max(status, watched.worst)
        watch.end(_labels_of(place), status, seconds)

    def _find(self, scope: Scope) -> Place | None:
        # HEAD is answered by the endpoint of GET.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        match = self._table.find(method, scope["path"])
        if match is None:
            return None
        place, scope["path_params"] = match
        return place

    async def _answer(
        self, exchange: Exchange, scope: Scope, receive: Receive, sent: SentHeaders, place: Place | None
    ) -> None:
        try:
            caller = await self._caller(exchange, scope, sent, place)
            if not _is_storable(scope["path"]):
                await _answer_lost(scope, receive, exchange.send)
            elif place is None:
                # Behind, routes of pages would take a HEAD of a path that is for POST alone.
                is_refused = scope["method"] == "HEAD" and self._table.is_fixed(scope["path"])
                asked = {**scope, "method": "GET"} if is_refused else scope
                await self._behind(asked, receive, exchange.send)
            else:
                # The server leaves out the body of an answer to HEAD; endpoints know only GET.
                asked = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
                answer = await self._answer_of(place, caller, exchange, sent, Request(asked, receive))
                if len(answer.body) > LARGEST_ANSWER:
                    raise AnswerTooLarge
                await exchange.write(answer, scope)
            # An answer is to the caller that was found last.
            for action in (exchange.caller or caller).after_response:
                await action()
        except Failure as failure:
            await self._refuse(exchange, scope, sent, failure)
        except ClientDisconnect:
            raise
        except Exception as error:
            answered = unforeseen(error, exchange.request_id)
            if isinstance(answered, Internal):
                template = self._template(scope, place)
                log.exception("unforeseen", path=template, method=logged_method(scope["method"]))
            if exchange.status is not None:
                raise
            await self._refuse(exchange, scope, sent, answered)

    async def _caller(
        self, exchange: Exchange, scope: Scope, sent: SentHeaders, place: Place | None, *, again: bool = False
    ) -> Caller:
        """The caller; `again` after a credential turned out to have changed. Raises what `Callers` raises."""
        authenticates = takes_credentials(scope["path"]) if place is None else place.takes_credentials
        assumes = place is not None and place.endpoint.assumes and not again
        caller = await self._callers.of(
            scope,
            sent,
            exchange.budget,
            exchange.request_id,
            authenticates=authenticates,
            assumes=assumes,
        )
        caller.watch = exchange.watched
        exchange.caller = caller
        scope.setdefault("state", {})["caller"] = caller
        return caller

    async def _answer_of(
        self, place: Place, caller: Caller, exchange: Exchange, sent: SentHeaders, request: Request
    ) -> Answer:
        """The answer to the caller as its credential is now. Raises its refusal."""
        try:
            try:
                answer = await place.endpoint.answer(Context(self._services, caller), request)
            except Exception:
                await caller.confirm()
                raise
            await caller.confirm()
            return answer
        except CredentialChanged:
            # The log names no caller until the credential is looked up again.
            exchange.caller = None
            exchange.budget.begin_again()
            caller = await self._caller(exchange, request.scope, sent, place, again=True)
        return await place.endpoint.answer(Context(self._services, caller), request)

    async def _refuse(self, exchange: Exchange, scope: Scope, sent: SentHeaders, failure: Failure) -> None:
        if isinstance(failure, AnswerTooLarge):
            # Finding out took as long as the largest answer does.
            await exchange.budget.charge_answer(LARGEST_ANSWER)
        note_refusals(exchange.caller, [failure])
        await exchange.write(rendered(scope["path"], sent, failure), scope)

    def _template(self, scope: Scope, place: Place | None) -> str:
        return self._templates.of(scope) if place is None else place.template

    def _line(
        self, exchange: Exchange, scope: Scope, sent: SentHeaders, place: Place | None, started: float
    ) -> RequestLine:
        milliseconds = (perf_counter() - started) * 1000
        template, method = self._template(scope, place), logged_method(scope["method"])
        watched, status, request_id = exchange.watched, exchange.status, exchange.request_id
        trace_id = None if watched is None else watched.trace_id
        line = (time(), method, template, status, milliseconds, request_id, trace_id)
        address = self._callers.address_of(scope, sent) if self._logs_addresses else None
        principal = None if exchange.caller is None else exchange.caller.recognized
        if principal is None:
            return RequestLine(*line, address=address)
        named = (principal.credential_id, principal.kind, principal.user_id, principal.workspace_id)
        return RequestLine(*line, *named, address)


def _labels_of(place: Place | None) -> Labels:
    return PAGE if place is None else place.labels


def _request_id(sent: SentHeaders) -> str:
    """The sent request id if it is valid, otherwise a new one."""
    given = sent.get(b"x-request-id")
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given.decode()
    return os.urandom(16).hex()


async def _answer_lost(scope: Scope, receive: Receive, send: Send) -> None:
    response = await render_lost(Request(scope, receive), HTTPException(404))
    await response(scope, receive, send)


def _is_storable(path: str) -> bool:
    """Whether the path has neither NUL nor lone surrogates, which PostgreSQL cannot store."""
    if path.isascii():
        return "\x00" not in path
    return "\x00" not in path and not any("\ud800" <= character <= "\udfff" for character in path)
