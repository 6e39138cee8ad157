"""The page that asks for the password again, for programs that got `reauthentication_required`."""

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.forms import Form
from gateway.web.kit.visits import CONFIRMATION_PATH, Visit, confirm, local_path, page, show_confirmation
from schema.errors import Invalid
from schema.languages.speech import gettext


def password_confirmation_routes() -> list[Route]:
    return [
        Route(CONFIRMATION_PATH, page(show, translated=True)),
        Route(CONFIRMATION_PATH, page(take, translated=True), methods=["POST"]),
    ]


async def show(visit: Visit) -> Response:
    return await show_confirmation(
        visit, Form.of(next=local_path(visit.request.query_params.get("next", "")))
    )


async def take(visit: Visit) -> Response:
    """Record that the user has proved their identity, and redirect."""
    form = await visit.form()
    try:
        await confirm(visit, form)
    except Invalid as invalid:
        return await show_confirmation(visit, form.refused(invalid), 422)
    return visit.redirect(
        local_path(form.raw("next")), gettext("Confirmed. We will not ask again for an hour.")
    )
