"""`/api/workspace-access-tokens/`."""

from resolvers.credentials import workspace_access_tokens
from rest_compat.routing.router import Router

router = Router("/workspace-access-tokens", "Workspace access tokens", "Tokens with access to one workspace.")
router.post("/", workspace_access_tokens.create_workspace_access_token)
router.get("/", workspace_access_tokens.list_workspace_access_tokens)
router.get("/{id}", workspace_access_tokens.get_workspace_access_token)
router.patch("/{id}", workspace_access_tokens.update_workspace_access_token)
router.delete("/{id}", workspace_access_tokens.delete_workspace_access_token)
