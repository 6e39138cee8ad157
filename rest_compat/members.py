"""`/api/members/`."""

from resolvers.customers import members
from rest_compat.routing.router import Router

router = Router("/members", "Members", "People who belong to a customer that is a team.")
router.post("/", members.create_member)
router.get("/", members.list_members)
router.get("/{id}", members.get_member)
router.patch("/{id}", members.update_member)
router.delete("/{id}", members.delete_member)
