"""`/api/workspaces/`."""

from resolvers.workspaces import workspaces
from rest_compat.router import Router
from schema.pages import Page
from schema.workspaces import WorkspaceItem

router = Router("/workspaces", "Workspaces")
router.post("/", workspaces.create_workspace)
router.get("/", workspaces.list_workspaces, answer=Page[WorkspaceItem])
router.get("/{id}", workspaces.get_workspace, omits=("slug",))
router.patch("/{id}", workspaces.update_workspace)
