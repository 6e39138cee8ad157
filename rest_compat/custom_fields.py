"""`/api/custom-fields/`."""

from resolvers.shares import custom_fields
from rest_compat.routing.router import Router

router = Router(
    "/custom-fields", "Custom fields", "Questions that a workspace can ask in the forms of its shares."
)
router.post("/", custom_fields.create_custom_field)
router.get("/", custom_fields.list_custom_fields)
router.get("/{id}", custom_fields.get_custom_field)
router.patch("/{id}", custom_fields.update_custom_field)
router.delete("/{id}", custom_fields.delete_custom_field)
