"""The pages of those who sign in, in one list."""

from __future__ import annotations

from starlette.routing import Route

from gateway.web.access_tokens import access_token_routes
from gateway.web.account import account_routes
from gateway.web.address_confirmation import address_confirmation_routes
from gateway.web.forgotten_password import forgotten_password_routes
from gateway.web.oauth_clients import oauth_client_routes
from gateway.web.password_confirmation import password_confirmation_routes
from gateway.web.second_step import second_step_routes
from gateway.web.security import security_routes
from gateway.web.sign_in import Entrance, sign_in_routes
from gateway.web.workspace_invitations import invitation_routes
from gateway.web.workspace_members import member_routes
from gateway.web.workspaces import workspace_routes


def settings_routes(*, sign_up_open: bool) -> list[Route]:
    """Sign-up (where it is open), sign-in, workspaces with their settings, and the user's account."""
    entrance = Entrance(sign_up_open)
    return [
        *sign_in_routes(entrance),
        *second_step_routes(entrance),
        *address_confirmation_routes(),
        *forgotten_password_routes(),
        *password_confirmation_routes(),
        *workspace_routes(),
        *member_routes(),
        *invitation_routes(),
        *access_token_routes(),
        *oauth_client_routes(),
        *account_routes(),
        *security_routes(),
    ]
