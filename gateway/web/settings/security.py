"""Pages of second factors: authenticator app, passkeys and recovery codes."""

import segno
from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.forms import Form
from gateway.web.kit.visits import Visit, page
from resolvers.second_factors.factors import SECURITY_PATH
from resolvers.second_factors.overview import get_second_factors
from resolvers.second_factors.passkeys import (
    MOST_PASSKEYS,
    begin_passkey,
    create_passkey,
    delete_passkey,
    list_passkeys,
    update_passkey,
)
from resolvers.second_factors.recovery_codes import renew_recovery_codes
from resolvers.second_factors.totp import begin_totp, confirm_totp, delete_totp
from schema.errors import Invalid

TOTP_PATH = f"{SECURITY_PATH}/authenticator-app"
PASSKEYS_PATH = f"{SECURITY_PATH}/passkeys"
CODES_PATH = f"{SECURITY_PATH}/recovery-codes"


def security_routes() -> list[Route]:
    return [
        Route(SECURITY_PATH, page(show)),
        Route(TOTP_PATH, page(show_totp)),
        Route(TOTP_PATH, page(take_totp), methods=["POST"]),
        Route(f"{TOTP_PATH}/remove", page(remove_totp), methods=["POST"]),
        Route(PASSKEYS_PATH, page(take_passkey), methods=["POST"]),
        Route(f"{PASSKEYS_PATH}/{{id}}", page(rename_passkey), methods=["POST"]),
        Route(f"{PASSKEYS_PATH}/{{id}}/remove", page(remove_passkey), methods=["POST"]),
        Route(CODES_PATH, page(renew_codes), methods=["POST"]),
    ]


async def show(visit: Visit) -> Response:
    return await _show(visit, Form.of())


async def show_totp(visit: Visit) -> Response:
    """A new secret, as a QR code and as text."""
    return await _show_totp(visit, Form.of())


async def take_totp(visit: Visit) -> Response:
    form = await visit.form()
    data = {name: form.raw(name) for name in ("enrolment", "code")}
    try:
        codes = await visit.call(confirm_totp, data=data)
    except Invalid as invalid:
        return await _show_totp(visit, form.refused(invalid), 422)
    return _done(visit, "Authenticator app set up.", codes)


async def remove_totp(visit: Visit) -> Response:
    await visit.form()
    await visit.call(delete_totp)
    return visit.redirect(SECURITY_PATH, "Authenticator app removed.")


async def take_passkey(visit: Visit) -> Response:
    """Save the passkey that the page's script had the browser create."""
    form = await visit.form()
    data = {"name": form.text("name"), "passkey": form.raw("passkey")}
    try:
        made = await visit.call(create_passkey, data=data)
    except Invalid as invalid:
        return await _show(visit, form.refused(invalid), 422)
    return _done(visit, "Passkey added.", made.recovery_codes)


async def rename_passkey(visit: Visit) -> Response:
    form = await visit.form()
    try:
        await visit.call(
            update_passkey, id=visit.request.path_params["id"], data={"name": form.text("new_name")}
        )
    except Invalid:
        return visit.redirect(
            SECURITY_PATH, "The passkey was not renamed. Enter a name of 1 to 64 characters."
        )
    return visit.redirect(SECURITY_PATH, "Passkey renamed.")


async def remove_passkey(visit: Visit) -> Response:
    await visit.form()
    await visit.call(delete_passkey, id=visit.request.path_params["id"])
    return visit.redirect(SECURITY_PATH, "Passkey removed.")


async def renew_codes(visit: Visit) -> Response:
    await visit.form()
    codes = await visit.call(renew_recovery_codes)
    return _done(visit, "Your old recovery codes no longer work.", codes)


async def _show(visit: Visit, form: Form, status_code: int = 200) -> Response:
    listing = await visit.call(list_passkeys, filters={"limit": MOST_PASSKEYS})
    return visit.render(
        "account_security.html",
        status_code=status_code,
        form=form,
        factors=await visit.call(get_second_factors),
        passkeys=listing.data,
        most_passkeys=MOST_PASSKEYS,
        options=await visit.call(begin_passkey),
    )


async def _show_totp(visit: Visit, form: Form, status_code: int = 200) -> Response:
    enrolment = await visit.call(begin_totp, sealed=form.optional("enrolment"))
    # On white in dark mode too: cameras expect dark modules on a light background.
    code = segno.make(enrolment.uri, error="m")
    return visit.render(
        "authenticator_app.html",
        status_code=status_code,
        form=form,
        enrolment=enrolment,
        qr_code=code.svg_inline(scale=5, dark="#000", light="#fff"),
    )


def _done(visit: Visit, notice: str, codes: list[str]) -> Response:
    """Redirect to the factors, or show new recovery codes if there are any."""
    if not codes:
        return visit.redirect(SECURITY_PATH, notice)
    return visit.render("recovery_codes.html", status_code=201, done=notice, codes=codes)
