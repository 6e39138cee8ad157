"""`/api/passkeys/`."""

from resolvers.second_factors import passkeys
from rest_compat.routing.router import Router

router = Router("/passkeys", "Second factors", "What the user needs to sign in besides the password.")
router.get("/", passkeys.list_passkeys)
router.get("/{id}", passkeys.get_passkey)
router.patch("/{id}", passkeys.update_passkey)
router.delete("/{id}", passkeys.delete_passkey)
