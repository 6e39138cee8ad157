"""Sign-in and sign-out."""

from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.responses import Response
from starlette.routing import Route

from gateway.endpoints.discovery import AUTHORIZE_PATH
from gateway.web.kit.cookies import KNOWN, SECOND_STEP, SESSION, VISITOR
from gateway.web.kit.forms import Form
from gateway.web.kit.languages import keep_language, read_language
from gateway.web.kit.visits import SIGN_IN_PATH, Visit, local_path, page
from oauth.provider.reauthentication import digest_of, read_pairs
from resolvers.credentials.browser_sessions import LIFETIME
from resolvers.sign_in.by_second_factor import passkey_sign_in_options
from resolvers.sign_in.known_browsers import DAYS_KEPT
from resolvers.sign_in.own_account import change_own_language
from resolvers.sign_in.second_steps import LIFETIME as SECOND_STEP_LIFE
from resolvers.sign_in.second_steps import PendingSignIn
from resolvers.sign_in.sign_in import Browser, OpenedSession, sign_in, sign_out
from schema.errors import Invalid
from schema.languages.speech import gettext

SIGN_OUT_PATH, LANGUAGE_PATH = "/sign-out", "/language"
SECOND_STEP_PATH, PASSKEY_PATH = "/sign-in/second-step", "/sign-in/passkey"


@dataclass(frozen=True)
class Entrance:
    """Sign-in pages, the same for users who are already signed in, with a link to sign-up if it is open."""

    sign_up_open: bool

    async def show_sign_in(self, visit: Visit) -> Response:
        """The form, or a redirect for signed-in users unless the address has `again`."""
        next_path = _next_path(visit)
        if visit.user is not None and "again" not in visit.request.query_params:
            return visit.redirect(next_path)
        email = None if visit.user is None else visit.user.email
        return self.show(visit.as_visitor(), Form.of(next=next_path, email=email))

    async def take_sign_in(self, visit: Visit) -> Response:
        visit = visit.as_visitor()
        form = await visit.form()
        data = {"password": form.raw("password")}
        if email := form.optional("email"):
            data["email"] = email
        next_path = local_path(form.raw("next"))
        try:
            opened = await visit.call(sign_in, data=data, browser=browser_of(visit, next_path))
        except Invalid as invalid:
            return self.show(visit, form.refused(invalid), 422)
        return enter_or_ask(visit, opened, next_path)

    def show(self, visit: Visit, form: Form, status_code: int = 200) -> Response:
        """The page with the form's values and errors."""
        return visit.render(
            "sign_in.html",
            status_code=status_code,
            form=form,
            sign_up_open=self.sign_up_open,
            options=passkey_sign_in_options(visit.ctx, visit.visitor),
        )


def sign_in_routes(entrance: Entrance) -> list[Route]:
    """Sign-in and sign-out."""
    return [
        Route(SIGN_IN_PATH, page(entrance.show_sign_in, anyone=True, translated=True)),
        Route(SIGN_IN_PATH, page(entrance.take_sign_in, anyone=True, translated=True), methods=["POST"]),
        Route(LANGUAGE_PATH, page(take_language, anyone=True, translated=True), methods=["POST"]),
        Route(SIGN_OUT_PATH, page(leave, anyone=True, translated=True), methods=["POST"]),
    ]


async def leave(visit: Visit) -> Response:
    """End the session and delete its cookie."""
    if visit.session is None:
        return visit.redirect(SIGN_IN_PATH)
    await visit.form()
    await sign_out(visit.ctx, visit.session)
    response = visit.redirect(SIGN_IN_PATH, gettext("You are signed out."))
    visit.cookies.clear(response, SESSION)
    return response


async def take_language(visit: Visit) -> Response:
    """Keep the chosen language in the browser and, of whoever is signed in, with the user."""
    form = await visit.as_visitor().form()
    response = visit.redirect(local_path(form.raw("next"), SIGN_IN_PATH))
    if (language := read_language(form.raw("language"))) is not None:
        keep_language(response, visit.cookies, language)
        if visit.user is not None:
            await visit.call(change_own_language, data={"language": language.value})
    return response


def _next_path(visit: Visit) -> str:
    return local_path(visit.request.query_params.get("next", ""))


def browser_of(visit: Visit, next_path: str) -> Browser:
    """The browser that signs in, and the request it signs in for."""
    return Browser(
        session=visit.session,
        user_agent=visit.request.headers.get("user-agent"),
        authorization_digest=_authorization_digest(next_path),
        known_tokens=visit.cookies.read(visit.request, KNOWN) or "",
    )


def _authorization_digest(next_path: str) -> str | None:
    """The digest of the authorization request that the sign-in leads to, if it leads to one."""
    path, _, query = next_path.partition("?")
    if path != AUTHORIZE_PATH:
        return None
    try:
        return digest_of(read_pairs(query))
    except ValueError:
        return None


def enter_or_ask(visit: Visit, opened: OpenedSession | PendingSignIn, next_path: str) -> Response:
    """Enter, or ask for the second factor first."""
    if isinstance(opened, PendingSignIn):
        return _to_second_step(visit, opened, next_path)
    return enter(visit, opened, next_path)


def _to_second_step(visit: Visit, pending: PendingSignIn, next_path: str) -> Response:
    """Store the pending sign-in in a cookie and ask for the second factor."""
    response = visit.redirect(f"{SECOND_STEP_PATH}?{urlencode({'next': next_path})}")
    seconds = int(SECOND_STEP_LIFE.total_seconds())
    visit.cookies.write(response, SECOND_STEP, pending.text, seconds=seconds)
    return response


def enter(visit: Visit, opened: OpenedSession, next_path: str, notice: str | None = None) -> Response:
    """Give the browser a new session, never an earlier one, and redirect."""
    if next_path.startswith(AUTHORIZE_PATH):
        # Browsers apply a form's Content-Security-Policy to every redirect after it, and this one leads to
        # other applications.
        response = visit.render("continue.html", path=next_path)
    else:
        response = visit.redirect(next_path, notice)
    visit.cookies.write(response, SESSION, opened.credential.text, seconds=int(LIFETIME.total_seconds()))
    write_known(visit, response, opened.known_tokens)
    visit.cookies.clear(response, VISITOR)
    return response


def write_known(visit: Visit, response: Response, tokens: str) -> None:
    """Store the tokens that identify a known browser."""
    visit.cookies.write(response, KNOWN, tokens, seconds=DAYS_KEPT * 24 * 60 * 60)
