"""The routes of the pages of users and customers."""

from starlette.routing import Route

from gateway.web.dashboard.routes import dashboard_routes, start_routes
from gateway.web.entrance.address_confirmation import address_confirmation_routes
from gateway.web.entrance.demo import DemoEntrance
from gateway.web.entrance.forgotten_password import forgotten_password_routes
from gateway.web.entrance.new_address import new_address_routes
from gateway.web.entrance.password_confirmation import password_confirmation_routes
from gateway.web.entrance.second_step import second_step_routes
from gateway.web.entrance.sign_in import Entrance, sign_in_routes
from gateway.web.entrance.sign_up import sign_up_routes
from gateway.web.portal.portal import portal_routes
from gateway.web.records.routes import record_routes
from gateway.web.settings.access_tokens import access_token_routes
from gateway.web.settings.account import account_routes
from gateway.web.settings.invitations import invitation_routes
from gateway.web.settings.members import member_routes
from gateway.web.settings.oauth_clients import oauth_client_routes
from gateway.web.settings.security import security_routes
from gateway.web.settings.usage import usage_routes
from gateway.web.settings.webhook_deliveries import webhook_delivery_routes
from gateway.web.settings.webhooks import webhook_routes
from gateway.web.settings.workspaces import workspace_routes


def settings_routes(
    *, sign_up_open: bool, outbox: str | None = None, demo: DemoEntrance | None = None
) -> list[Route]:
    """Sign-up (where it is open), sign-in, workspaces with their settings, and the user's account."""
    entrance = Entrance(sign_up_open)
    return [
        *sign_in_routes(entrance),
        *(sign_up_routes(outbox) if sign_up_open else ()),
        *(demo.routes() if demo else ()),
        *second_step_routes(entrance),
        *address_confirmation_routes(),
        *new_address_routes(),
        *forgotten_password_routes(),
        *password_confirmation_routes(),
        *start_routes(),
        *workspace_routes(),
        *member_routes(),
        *invitation_routes(),
        *access_token_routes(),
        *oauth_client_routes(),
        *webhook_routes(),
        *webhook_delivery_routes(),
        *usage_routes(),
        *account_routes(),
        *security_routes(),
    ]


def slug_routes() -> list[Route]:
    """The pages of a workspace and its portal.

    They come after all other routes, because their first segment can be any slug.
    """
    return [*portal_routes(), *dashboard_routes(), *record_routes()]
