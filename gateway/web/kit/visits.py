"""A visit: a request of a page with the browser's user, who runs operations and gets responses."""

import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Self
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gateway.web.kit.cookies import LAST_WORKSPACE, NOTICE, SESSION, VISITOR, Cookies
from gateway.web.kit.forms import Form, read_form, token_for
from gateway.web.kit.html import html_page
from gateway.web.kit.languages import formats_of, kept_language, spoken, words_of
from gateway.web.kit.moments import zone_of
from gateway.web.kit.signed_in import SignedIn, find_signed_in
from oauth.authentication import authenticate_session
from resolvers.operations.context import Context, Outcome
from resolvers.operations.declaration import operation_of
from resolvers.operations.limits.admission import Demand, admit
from resolvers.operations.runner import run
from resolvers.operations.security_events import note_refusals
from resolvers.sign_in.by_second_factor import confirm_user, get_needed_confirmation
from schema.errors import Failure, Invalid, ReauthenticationRequired
from schema.languages.speech import Speech, go_on_in
from storage.sealing import Purpose, read_signed, signed

SIGN_IN_PATH = "/sign-in"
HOME_PATH = "/workspaces"
# Leads to the dashboard of the workspace used last, or to the list of workspaces.
START_PATH = "/dashboard"
CONFIRMATION_PATH = "/confirm-password"
# Fields of the confirmation page, with names that no form leading to it has.
CONFIRMATION = {"password": "confirmed_password", "code": "confirming_code", "passkey": "confirming_passkey"}
NEVER_KEEP = "no-store"
WORKSPACE_KEPT = 365 * 24 * 60 * 60

_VISITOR = re.compile(r"[A-Za-z0-9_-]{43}")
_PAGE_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_KEY = re.compile(r"[A-Za-z0-9_-]{1,255}")
_LOCAL_PATH = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*")


@dataclass(frozen=True)
class Visit:
    """`session` is the text of the browser's session, None if no user is signed in. `binding` is what
    its forms are bound to: the session, or `visitor`, a random text that each browser gets.
    """

    request: Request
    ctx: Context
    cookies: Cookies
    user: SignedIn | None
    session: str | None
    visitor: str
    binding: str

    def as_visitor(self) -> Self:
        """The visit without its user, for sign-in pages."""
        return replace(self, user=None, binding=self.visitor)

    def authenticated(self, at: datetime) -> Self:
        """The visit after its user has authenticated at that moment."""
        principal = replace(self.ctx.principal, authenticated_at=at)
        return replace(self, ctx=replace(self.ctx, caller=replace(self.ctx.caller, principal=principal)))

    async def form(self) -> Form:
        """The sent form. Raises `NotPermitted` if its token is invalid."""
        state = self.request.state
        if not hasattr(state, "form"):
            state.form = await read_form(self.request, self.ctx.services.secret_key, self.binding)
        form: Form = state.form
        return form

    async def call(
        self,
        resolver: Callable[..., Any],
        *,
        key: str | None = None,
        if_match: str | None = None,
        **arguments: Any,
    ) -> Any:
        """Run an operation as the other surfaces do: admitted, charged, validated, in its own transaction.

        `key` is the form's `once`, so that sending it twice has one effect. `if_match` is the entity tag of
        the resource that the form showed. Raises `Failure`; problems of fields are an `Invalid`, for
        `Form.refused`.
        """
        operation = operation_of(resolver)
        caller = replace(self.ctx.caller, idempotency_key=key if key and _KEY.fullmatch(key) else None)
        await admit(caller, [Demand.of(operation)], restricted=operation.restricted)
        ctx = replace(self.ctx, caller=caller, outcome=Outcome(), if_match=if_match)
        return await run(operation, ctx, operation.validate(arguments))

    def render(
        self, template: str, *, status_code: int = 200, policy: str | None = None, **values: Any
    ) -> Response:
        """The template with `values` and `visit`. The page is not cached, and a notice is shown once."""
        notice = self._notice()
        shown = {**values, "visit": self, "notice": notice}
        response = html_page(template, policy, status_code, zone=zone_of(self.request), **shown)
        response.headers["Cache-Control"] = NEVER_KEEP
        response.headers["Vary"] = f"{self._compressing(status_code)}Accept-Language, Cookie"
        if notice is not None:
            self.cookies.clear(response, NOTICE)
        if self.cookies.read(self.request, VISITOR) != self.visitor:
            self.cookies.write(response, VISITOR, self.visitor)
        self._remember_workspace(response)
        return response

    def redirect(self, path: str, notice: str | None = None) -> Response:
        """Redirect to one of our pages, which shows the notice."""
        response = RedirectResponse(local_path(path), 303)
        response.headers["Cache-Control"] = NEVER_KEEP
        if notice is not None:
            value = signed(self.ctx.services.secret_key, Purpose.NOTICE, notice)
            self.cookies.write(response, NOTICE, value)
        return response

    def to_sign_in(self) -> Response:
        """Redirect to the sign-in and from there back to this page; a sent form is lost."""
        address = START_PATH
        if self.request.method == "GET":
            address = self.address
        return self.redirect(f"{SIGN_IN_PATH}?{urlencode({'next': address})}")

    @property
    def address(self) -> str:
        """The path of the page with its query."""
        return f"{self.request.url.path}?{self.request.url.query}".removesuffix("?")

    @property
    def offers_languages(self) -> bool:
        """Whether the page is translated and can be asked for again in another language."""
        return self.request.method in ("GET", "HEAD") and getattr(self.request.state, "is_translated", False)

    @cached_property
    def form_token(self) -> str:
        """The value of the hidden field `form_token` in each form of this answer."""
        return token_for(self.ctx.services.secret_key, self.binding)

    @property
    def page_number(self) -> int:
        """The page of a list that the address asks for, from 1."""
        number = self.request.query_params.get("page", "1")
        return int(number) if _PAGE_NUMBER.fullmatch(number) else 1

    def once(self) -> str:
        """A new key for `call`, so that sending the same form twice has one effect."""
        return secrets.token_urlsafe(16)

    def _remember_workspace(self, response: Response) -> None:
        """Store the workspace of the page, so that the next sign-in leads to its dashboard."""
        workspace = getattr(self.request.state, "workspace", None)
        if workspace is not None and self.cookies.read(self.request, LAST_WORKSPACE) != workspace.slug:
            self.cookies.write(response, LAST_WORKSPACE, workspace.slug, seconds=WORKSPACE_KEPT)

    def _compressing(self, status_code: int) -> str:
        """What `Vary` begins with if the page may be compressed: it is one that its reader signed in for.

        Answers to forms show secrets once, and pages of visitors hold those of mailed links.
        """
        is_compressed = self.request.method == "GET" and status_code == 200 and self.binding != self.visitor
        return "Accept-Encoding, " if is_compressed else ""

    def _notice(self) -> str | None:
        value = self.cookies.read(self.request, NOTICE) or ""
        return read_signed(self.ctx.services.secret_key, Purpose.NOTICE, value)


Handler = Callable[[Visit], Awaitable[Response]]


def page(
    handler: Handler, *, anyone: bool = False, translated: bool = False
) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for `Route`, which shows failures on a page and asks users to sign in.

    `anyone` is for pages that do not need a signed-in user, `translated` for those whose words are in the
    reader's language. Dates, numbers and amounts follow the reader's locale on every page. A user's choice
    comes before that of the browser.
    """

    async def endpoint(request: Request) -> Response:
        visit = _unknown_visit(request)
        request.state.is_translated = translated
        with spoken(visit.ctx.caller, speech_of(visit)):
            return await answered(visit)

    def speech_of(visit: Visit) -> Speech:
        own = None if visit.user is None else visit.user.language
        kept = kept_language(visit.request, visit.cookies)
        return (words_of if translated else formats_of)(visit.request, own, kept)

    async def answered(visit: Visit) -> Response:
        try:
            await admit(visit.ctx.caller, [])
            visit = await _recognized(visit)
            go_on_in(speech_of(visit))
            if visit.user is None and not anyone:
                return visit.to_sign_in()
            try:
                return await handler(visit)
            except ReauthenticationRequired:
                return await _after_confirmation(visit, handler)
        except Failure as failure:
            note_refusals(visit.ctx.caller, [failure])
            response = visit.render("failure.html", status_code=int(failure.status), failure=failure)
            response.headers.update(failure.headers)
            return response

    return endpoint


async def admitted_visit(request: Request) -> Visit:
    """The visit of a request that was admitted already. Raises `RateLimited`."""
    return await _recognized(_unknown_visit(request))


async def _after_confirmation(visit: Visit, handler: Handler) -> Response:
    """Ask for the password, and then handle the form with everything that was entered."""
    if visit.request.method != "POST":
        return visit.redirect(f"{CONFIRMATION_PATH}?{urlencode({'next': visit.address})}")
    form = await visit.form()
    if form.values.keys().isdisjoint(CONFIRMATION.values()):
        return await show_confirmation(visit, form, status_code=403)
    try:
        at = await confirm(visit, form)
    except Invalid as invalid:
        return await show_confirmation(visit, form.refused(invalid), status_code=422)
    return await handler(visit.authenticated(at))


async def confirm(visit: Visit, form: Form) -> datetime:
    """Authenticate the user by the form. Raises `Invalid`, for the form's own fields."""
    data = {name: form.raw(field) for name, field in CONFIRMATION.items()}
    try:
        at: datetime = await visit.call(confirm_user, data=data)
    except Invalid as invalid:
        raise Invalid(
            [
                entry | {"loc": [CONFIRMATION.get(part, part) for part in entry["loc"]]}
                for entry in invalid.problems
            ]
        ) from None
    return at


async def show_confirmation(visit: Visit, form: Form, status_code: int = 200) -> Response:
    """The confirmation form, which keeps the values of the form that was sent to this address."""
    own = CONFIRMATION.values()
    kept = [(name, value) for name in form.values if name not in own for value in form.all(name)]
    needed = await visit.call(get_needed_confirmation)
    return visit.render(
        "password_confirmation.html", status_code=status_code, form=form, kept=kept, needed=needed
    )


def local_path(path: str, default: str = START_PATH) -> str:
    """The path if it stays on this host, otherwise the default: no open redirects."""
    return path if _LOCAL_PATH.fullmatch(path) else default


def _unknown_visit(request: Request) -> Visit:
    ctx: Context = request.app.state.context(request)
    cookies = Cookies(secure=ctx.services.auth_url.startswith("https:"))
    sent = cookies.read(request, VISITOR) or ""
    visitor = sent if _VISITOR.fullmatch(sent) else secrets.token_urlsafe(32)
    return Visit(request, ctx, cookies, user=None, session=None, visitor=visitor, binding=visitor)


async def _recognized(visit: Visit) -> Visit:
    """The visit with the user of the cookie's session; an invalid session is charged to the address."""
    session = visit.cookies.read(visit.request, SESSION)
    if session is None:
        return visit
    ctx = visit.ctx
    principal = await authenticate_session(ctx.services.database, session)
    if principal is None:
        await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=False)
        return visit
    caller = replace(ctx.caller, principal=principal, credential=session)
    ctx.caller.noted_principal = principal
    user = await find_signed_in(ctx, principal.credential_id)
    if user is None:
        return visit
    return replace(visit, ctx=replace(ctx, caller=caller), user=user, session=session, binding=session)
