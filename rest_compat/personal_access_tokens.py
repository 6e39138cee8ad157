"""`/api/personal-access-tokens/`."""

from resolvers.credentials import personal_access_tokens
from rest_compat.routing.router import Router

router = Router(
    "/personal-access-tokens", "Personal access tokens", "Tokens with access to all workspaces of the user."
)
router.post("/", personal_access_tokens.create_personal_access_token)
router.get("/", personal_access_tokens.list_personal_access_tokens)
router.get("/{id}", personal_access_tokens.get_personal_access_token)
router.patch("/{id}", personal_access_tokens.update_personal_access_token)
router.delete("/{id}", personal_access_tokens.delete_personal_access_token)
