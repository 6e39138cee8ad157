"""The page that asks for the password again, for programs that were answered `reauthentication_required`."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.forms import Form
from gateway.web.visits import (
    CONFIRMATION,
    CONFIRMATION_PATH,
    Visit,
    local_path,
    page,
    renamed,
    show_confirmation,
)
from resolvers.sign_in import confirm_password
from schema.errors import Invalid


def password_confirmation_routes() -> list[Route]:
    return [
        Route(CONFIRMATION_PATH, page(show)),
        Route(CONFIRMATION_PATH, page(take), methods=["POST"]),
    ]


async def show(visit: Visit) -> Response:
    return show_confirmation(visit, Form.of(next=local_path(visit.request.query_params.get("next", ""))))


async def take(visit: Visit) -> Response:
    """Note that the user has proved who they are, and go on."""
    form = await visit.form()
    try:
        await visit.call(confirm_password, data={"password": form.raw(CONFIRMATION)})
    except Invalid as invalid:
        return show_confirmation(visit, form.refused(renamed(invalid)), 422)
    return visit.redirect(local_path(form.raw("next")), "Your password is confirmed for an hour.")
