"""`/api/workspace-members/`."""

from resolvers.workspaces import members as workspace_members
from rest_compat.routing.router import Router

router = Router(
    "/workspace-members",
    "Workspace members",
    "Users with access to a workspace, their roles, and invitations.",
)
router.post("/", workspace_members.invite_workspace_member)
router.get("/", workspace_members.list_workspace_members)
router.get("/{id}", workspace_members.get_workspace_member)
router.patch("/{id}", workspace_members.update_workspace_member)
router.delete("/{id}", workspace_members.remove_workspace_member)
