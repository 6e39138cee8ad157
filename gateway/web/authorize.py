"""`/oauth2/authorize`: where people allow applications something, or don't."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gateway.discovery import AUTHORIZE_PATH
from gateway.web.html import content_security_policy
from gateway.web.scope_words import in_words
from gateway.web.visits import NEVER_KEEP, SIGN_IN_PATH, Visit, page
from oauth.authorization import Answered, Asked, Unanswerable, read_request
from oauth.decision import Allowed, NeedsConsent, NeedsSignIn, Person, next_step
from oauth.messages import Pairs
from oauth.redirects import form_target
from oauth.subjects import find_subject
from resolvers.admission import admit
from storage.clock import now
from storage.sealing import Purpose, read_signed, signed

MOST_PARAMETERS = 50
# Added to the address with which people come back from signing in again: since when they have to have.
SIGNED_IN_SINCE = "signed_in_since"
# More workspaces than these are chosen from a list.
MOST_RADIOS = 6


@dataclass(frozen=True)
class Question:
    """A request with what it still needs. `pairs` are its parameters without what we added."""

    visit: Visit
    asked: Asked
    pairs: Pairs
    step: NeedsSignIn | NeedsConsent | Allowed


def authorize_routes() -> list[Route]:
    return [
        Route(AUTHORIZE_PATH, page(_told(show), anyone=True)),
        Route(AUTHORIZE_PATH, page(_told(take), anyone=True), methods=["POST"]),
    ]


async def show(visit: Visit) -> Response:
    """The consent page; or the answer, where the user has decided before."""
    await admit(visit.ctx.caller, [], 1)
    async with visit.ctx.services.database.snapshot() as connection:
        question = await _read(visit, connection)
        if isinstance(question.step, NeedsSignIn):
            return _to_sign_in(question)
        if isinstance(question.step, NeedsConsent):
            return _render(question, question.step)
    return await _allow(visit, question.step.workspace_id, is_decided=False)


async def take(visit: Visit) -> Response:
    """What the user decided on the consent page."""
    await admit(visit.ctx.caller, [], 1)
    if visit.user is None:
        async with visit.ctx.services.database.snapshot() as connection:
            return _to_sign_in(await _read(visit, connection))
    form = await visit.form()
    if form.raw("decision") == "allow":
        return await _allow(visit, _as_id(form.raw("workspace_id")), is_decided=True)
    async with visit.ctx.services.database.snapshot() as connection:
        question = await _read(visit, connection)
        return _go_on(await question.asked.deny())


async def _allow(visit: Visit, workspace_id: UUID | None, *, is_decided: bool) -> Response:
    """Issue a code, in a unit of its own. Everything is read again in it: a consent may be gone by now."""
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
            return _go_on(await question.asked.allow(subject))
        if isinstance(question.step, Allowed):
            return visit.redirect(_address(AUTHORIZE_PATH, question.pairs))
        return _render(question, question.step, problem="Choose one of your workspaces.")


async def _read(visit: Visit, connection: AsyncConnection) -> Question:
    """Raises `Unanswerable` or `Answered`."""
    try:
        sent = parse_qsl(
            visit.request.url.query, keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS
        )
    except ValueError:
        raise Unanswerable("The request cannot be read.") from None
    pairs = [(name, value) for name, value in sent if name != SIGNED_IN_SINCE]
    asked = await read_request(connection, visit.ctx.services.auth_url, pairs)
    person = None
    if visit.user is not None:
        since = _signed_in_since(visit, dict(sent).get(SIGNED_IN_SINCE, ""))
        is_fresh = since is not None and visit.user.at.timestamp() >= since
        person = Person(visit.user.id, visit.user.at, is_fresh)
    return Question(visit, asked, pairs, await next_step(asked, person))


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
    """To the sign-in and back; who is signed in does so again, and it has to be from now on."""
    return question.visit.redirect(_sign_in_address(question, again=question.visit.user is not None))


def _sign_in_address(question: Question, *, again: bool) -> str:
    """`again` asks whoever is signed in too, and proves afterwards that they were."""
    secret = question.visit.ctx.services.secret_key
    marker = signed(secret, Purpose.SIGNED_IN_SINCE, str(now().timestamp()))
    back = _address(AUTHORIZE_PATH, [*question.pairs, (SIGNED_IN_SINCE, marker)])
    return _address(SIGN_IN_PATH, [("next", back), *([("again", "1")] if again else [])])


def _signed_in_since(visit: Visit, marker: str) -> float | None:
    moment = read_signed(visit.ctx.services.secret_key, Purpose.SIGNED_IN_SINCE, marker)
    return None if moment is None else float(moment)


def _go_on(location: str) -> Response:
    """Back to the application, at an address that it declared."""
    return RedirectResponse(
        location, 303, headers={"Cache-Control": NEVER_KEEP, "Referrer-Policy": "no-referrer"}
    )


def _told(handler: Callable[[Visit], Awaitable[Response]]) -> Callable[[Visit], Awaitable[Response]]:
    """What has its answer goes back to the application; what cannot be answered is told to the user only."""

    async def answer(visit: Visit) -> Response:
        try:
            return await handler(visit)
        except Answered as answered:
            return _go_on(answered.location)
        except Unanswerable as reason:
            return visit.render("unanswerable.html", status_code=400, reason=str(reason))

    return answer


def _address(path: str, pairs: Pairs) -> str:
    return f"{path}?{urlencode(pairs)}"


def _as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
