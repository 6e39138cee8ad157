"""Signing in with a second factor after the password, or with a passkey alone."""

from urllib.parse import urlencode

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.entrance.sign_in import PASSKEY_PATH, SECOND_STEP_PATH, Entrance, browser_of, enter
from gateway.web.kit.cookies import SECOND_STEP
from gateway.web.kit.forms import Form
from gateway.web.kit.visits import SIGN_IN_PATH, Visit, local_path, page
from resolvers.sign_in.by_second_factor import get_second_step, sign_in_with_passkey, take_second_step
from schema.errors import Invalid
from schema.languages.speech import gettext


def second_step_routes(entrance: Entrance) -> list[Route]:
    """`entrance` shows the sign-in page with the error of a refused passkey."""

    async def take_passkey(visit: Visit) -> Response:
        """Sign in with a passkey that the page's script had the browser use."""
        visit = visit.as_visitor()
        form = await visit.form()
        next_path = local_path(form.raw("next"))
        try:
            opened = await visit.call(
                sign_in_with_passkey,
                data={"passkey": form.raw("passkey")},
                visitor=visit.visitor,
                browser=browser_of(visit, next_path),
            )
        except Invalid as invalid:
            return entrance.show(visit, form.refused(invalid), 422)
        return enter(visit, opened, next_path)

    return [
        Route(SECOND_STEP_PATH, page(show_step, anyone=True, translated=True)),
        Route(SECOND_STEP_PATH, page(take_step, anyone=True, translated=True), methods=["POST"]),
        Route(PASSKEY_PATH, page(take_passkey, anyone=True, translated=True), methods=["POST"]),
    ]


async def show_step(visit: Visit) -> Response:
    return await _show(visit.as_visitor(), Form.of(next=visit.request.query_params.get("next", "")))


async def take_step(visit: Visit) -> Response:
    """Check the second factor, and continue as after a sign-in."""
    visit = visit.as_visitor()
    form = await visit.form()
    next_path = local_path(form.raw("next"))
    try:
        opened = await visit.call(
            take_second_step,
            data={"code": form.raw("code"), "passkey": form.raw("passkey")},
            pending=_pending(visit),
            browser=browser_of(visit, next_path),
        )
    except Invalid as invalid:
        return await _show(visit, form.refused(invalid), 422)
    if opened is None:
        return _ended(visit, form)
    response = enter(visit, opened, next_path)
    visit.cookies.clear(response, SECOND_STEP)
    return response


async def _show(visit: Visit, form: Form, status_code: int = 200) -> Response:
    step = await visit.call(get_second_step, pending=_pending(visit))
    if step is None:
        return _ended(visit, form)
    return visit.render("second_step.html", status_code=status_code, form=form, step=step)


def _ended(visit: Visit, form: Form) -> Response:
    address = f"{SIGN_IN_PATH}?{urlencode({'next': form.raw('next')})}"
    response = visit.redirect(
        address, gettext("Sign in again. You ran out of time, or too many codes were wrong.")
    )
    visit.cookies.clear(response, SECOND_STEP)
    return response


def _pending(visit: Visit) -> str:
    return visit.cookies.read(visit.request, SECOND_STEP) or ""
