"""`/api/workspace-invitations/`."""

from resolvers.workspaces import invitations as workspace_invitations
from rest_compat.routing.router import Router

router = Router(
    "/workspace-invitations", "Workspace invitations", "Invitations that the user can accept or decline."
)
router.get("/", workspace_invitations.list_workspace_invitations)
router.get("/{id}", workspace_invitations.get_workspace_invitation)
router.post("/{id}/accept", workspace_invitations.accept_workspace_invitation, status=200)
router.post("/{id}/decline", workspace_invitations.decline_workspace_invitation, status=204)
