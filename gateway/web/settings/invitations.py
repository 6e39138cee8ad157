"""The signed-in user's invitations, to accept or decline."""

from collections.abc import Callable
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.visits import HOME_PATH, Visit, page
from resolvers.workspaces.invitation_mails import PAGE_PATH
from resolvers.workspaces.invitations import (
    accept_workspace_invitation,
    decline_workspace_invitation,
    get_workspace_invitation,
    list_workspace_invitations,
)
from schema.errors import NotFound
from schema.kit.pages import MOST_PER_PAGE
from schema.workspaces.members import WorkspaceInvitation


def invitation_routes() -> list[Route]:
    return [
        Route(PAGE_PATH, page(show)),
        Route(f"{PAGE_PATH}/{{id}}/accept", page(accept), methods=["POST"]),
        Route(f"{PAGE_PATH}/{{id}}/decline", page(decline), methods=["POST"]),
    ]


async def show(visit: Visit) -> Response:
    query = {"limit": MOST_PER_PAGE, "page": visit.page_number}
    return visit.render(
        "workspace_invitations.html", listing=await visit.call(list_workspace_invitations, filters=query)
    )


async def accept(visit: Visit) -> Response:
    invitation = await _answered(visit, accept_workspace_invitation)
    if invitation is None:
        return _gone(visit)
    path = f"{HOME_PATH}/{invitation.workspace_slug}"
    return visit.redirect(path, f"You are now a member of {invitation.workspace_name}.")


async def decline(visit: Visit) -> Response:
    invitation = await _answered(visit, decline_workspace_invitation)
    if invitation is None:
        return _gone(visit)
    return visit.redirect(PAGE_PATH, f"You declined the invitation to {invitation.workspace_name}.")


async def _answered(visit: Visit, answer: Callable[..., Any]) -> WorkspaceInvitation | None:
    """The invitation before the answer; None if it no longer exists."""
    await visit.form()
    id = visit.request.path_params["id"]
    try:
        invitation: WorkspaceInvitation = await visit.call(get_workspace_invitation, id=id)
        await visit.call(answer, id=id)
    except NotFound:
        return None
    return invitation


def _gone(visit: Visit) -> Response:
    return visit.redirect(PAGE_PATH, "This invitation has expired or was withdrawn. Ask for a new one.")
