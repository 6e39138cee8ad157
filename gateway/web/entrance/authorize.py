"""`/oauth2/authorize`: users allow or deny an application's request."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gateway.endpoints.discovery import AUTHORIZE_PATH
from gateway.web.kit.html import content_security_policy
from gateway.web.kit.visits import NEVER_KEEP, SIGN_IN_PATH, Visit, page
from gateway.web.words.scopes import in_words
from oauth.provider.authorization import AuthorizationRequest, RefusedRequest, UntrustedRequest, read_request
from oauth.provider.consent_step import (
    AlreadyAllowed,
    NeedsConsent,
    NeedsSignIn,
    SignedInUser,
    must_sign_in,
    next_step,
)
from oauth.provider.protocol import Pairs
from oauth.provider.reauthentication import is_fresh, read_pairs, spend
from oauth.provider.redirects import form_target
from oauth.provider.subjects import find_subject
from resolvers.operations.limits.admission import admit
from resolvers.operations.security_events import note_consent
from schema.languages.speech import gettext
from storage.engine.connections import Connection

# More workspaces than these are chosen from a list.
MOST_RADIOS = 6


@dataclass(frozen=True)
class Question:
    """A request with its parameters, the browser's user, and the next step it needs."""

    visit: Visit
    asked: AuthorizationRequest
    pairs: Pairs
    person: SignedInUser | None
    step: NeedsSignIn | NeedsConsent | AlreadyAllowed

    async def end_sign_in(self, connection: Connection) -> bool:
        """Use up the sign-in for this request; False if the user has to sign in again."""
        user, person = self.visit.user, self.person
        if user is None or person is None:
            return False
        was_fresh = person.is_fresh and await spend(connection, user.session_id, self.pairs)
        return was_fresh or not must_sign_in(self.asked, replace(person, is_fresh=False))


def authorize_routes() -> list[Route]:
    return [
        Route(AUTHORIZE_PATH, page(_told(show), anyone=True, translated=True)),
        Route(AUTHORIZE_PATH, page(_told(take), anyone=True, translated=True), methods=["POST"]),
    ]


async def show(visit: Visit) -> Response:
    """The consent page, or the answer if the user has decided before."""
    await admit(visit.ctx.caller, [])
    async with visit.ctx.services.database.snapshot() as connection:
        question = await _read(visit, connection)
        if isinstance(question.step, NeedsSignIn):
            return _to_sign_in(question)
        if isinstance(question.step, NeedsConsent):
            return _render(question, question.step)
    return await _allow(visit, question.step.workspace_id, is_decided=False)


async def take(visit: Visit) -> Response:
    """The user's decision on the consent page."""
    await admit(visit.ctx.caller, [])
    if visit.user is None:
        async with visit.ctx.services.database.snapshot() as connection:
            return _to_sign_in(await _read(visit, connection))
    form = await visit.form()
    if form.raw("decision") == "allow":
        return await _allow(visit, _as_id(form.raw("workspace_id")), is_decided=True)
    async with visit.ctx.services.database.write() as connection:
        question = await _read(visit, connection)
        await question.end_sign_in(connection)
        return _go_on(await question.asked.deny())


async def _allow(visit: Visit, workspace_id: UUID | None, *, is_decided: bool) -> Response:
    """Issue a code in its own transaction, which reads everything again: a consent may be gone."""
    async with visit.ctx.services.database.write() as connection:
        question = await _read(visit, connection)
        user = visit.user
        if user is None or isinstance(question.step, NeedsSignIn):
            return _to_sign_in(question)
        if isinstance(question.step, NeedsConsent) and not is_decided:
            return _render(question, question.step)
        subject = None
        if question.asked.is_of_user or workspace_id is not None:
            reach = None if question.asked.is_of_user else workspace_id
            subject = await find_subject(connection, user.id, reach, authenticated_at=user.at, hold=True)
        if subject is not None:
            # Of two simultaneous answers, only the first can use the sign-in.
            if not await question.end_sign_in(connection):
                return _to_sign_in(question)
            location = await question.asked.allow(subject)
            if is_decided:
                note_consent(user.id, question.asked.client.row.id, subject.workspace_id)
            return _go_on(location)
        if isinstance(question.step, AlreadyAllowed):
            return visit.redirect(_address(AUTHORIZE_PATH, question.pairs))
        return _render(question, question.step, problem=gettext("Choose one of your workspaces."))


async def _read(visit: Visit, connection: Connection) -> Question:
    """Raises `UntrustedRequest` or `RefusedRequest`."""
    try:
        pairs = read_pairs(visit.request.url.query)
    except ValueError:
        raise UntrustedRequest("The request cannot be read.") from None
    asked = await read_request(connection, visit.ctx.services.auth_url, pairs)
    person = None
    if visit.user is not None:
        user = visit.user
        person = SignedInUser(user.id, user.at, is_fresh(user.signed_in_for, user.at, pairs))
    return Question(visit, asked, pairs, person, await next_step(asked, person))


def _render(question: Question, step: NeedsConsent, problem: str | None = None) -> Response:
    visit, asked = question.visit, question.asked
    return visit.render(
        "authorize.html",
        status_code=422 if problem else 200,
        policy=content_security_policy(form_action=f"'self' {form_target(asked.redirect_uri)}"),
        client=asked.client.row,
        host=urlsplit(asked.redirect_uri).netloc,
        is_of_user=asked.is_of_user,
        lines=in_words(asked.scopes),
        workspaces=step.workspaces,
        allowed=step.allowed,
        most_radios=MOST_RADIOS,
        problem=problem,
        action=_address(visit.request.url.path, visit.request.query_params.multi_items()),
        sign_in=_sign_in_address(question, again=True),
    )


def _to_sign_in(question: Question) -> Response:
    """Send the user to sign in and back; a signed-in user signs in again."""
    return question.visit.redirect(_sign_in_address(question, again=question.visit.user is not None))


def _sign_in_address(question: Question, *, again: bool) -> str:
    """With `again`, signed-in users are asked too."""
    back = _address(AUTHORIZE_PATH, question.pairs)
    return _address(SIGN_IN_PATH, [("next", back), *([("again", "1")] if again else [])])


def _go_on(location: str) -> Response:
    """Redirect to the application, at an address it registered."""
    return RedirectResponse(
        location, 303, headers={"Cache-Control": NEVER_KEEP, "Referrer-Policy": "no-referrer"}
    )


def _offer_return(visit: Visit, answered: RefusedRequest) -> Response:
    host = urlsplit(answered.location).netloc
    return visit.render(
        "refused_request.html", status_code=400, reason=answered.reason, location=answered.location, host=host
    )


def _told(handler: Callable[[Visit], Awaitable[Response]]) -> Callable[[Visit], Awaitable[Response]]:
    """Send answers to the application; show the user those that cannot be sent.

    Without a session, an error redirects only when the user clicks: otherwise our addresses would lead to
    those of anyone who registers a client (RFC 9700 4.11.2). `prompt=none` permits no page and redirects
    (OpenID Connect Core 3.1.2.6).
    """

    async def answer(visit: Visit) -> Response:
        try:
            return await handler(visit)
        except RefusedRequest as answered:
            if visit.user is None and not answered.is_silent:
                return _offer_return(visit, answered)
            return _go_on(answered.location)
        except UntrustedRequest as reason:
            return visit.render("unanswerable.html", status_code=400, reason=str(reason))

    return answer


def _address(path: str, pairs: Pairs) -> str:
    return f"{path}?{urlencode(pairs)}"


def _as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
