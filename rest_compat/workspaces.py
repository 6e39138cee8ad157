"""`/api/workspaces/`."""

from resolvers.workspaces import deletion, workspaces
from rest_compat.routing.router import Router
from schema.kit.pages import Page
from schema.workspaces.workspaces import WorkspaceItem

router = Router(
    "/workspaces", "Workspaces", "Workspaces: each owns its shares, customers, files and metrics."
)
router.post("/", workspaces.create_workspace)
router.get("/", workspaces.list_workspaces, answer=Page[WorkspaceItem])
router.get("/{id}", workspaces.get_workspace, omits=("slug",))
router.patch("/{id}", workspaces.update_workspace)
router.delete("/{id}", deletion.delete_workspace)
