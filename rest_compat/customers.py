"""`/api/customers/`."""

from resolvers.customers import customers
from rest_compat.routing.router import Router

router = Router("/customers", "Customers", "People and teams that a workspace sells to.")
router.post("/", customers.create_customer)
router.get("/", customers.list_customers)
# An external id may hold slashes.
router.get(
    "/external/{external_id:path}",
    customers.get_customer,
    name="get_customer_by_external_id",
    omits=("id",),
)
router.patch(
    "/external/{external_id:path}",
    customers.update_customer,
    name="update_customer_by_external_id",
    omits=("id",),
)
router.get("/{id}", customers.get_customer, omits=("external_id",))
router.patch("/{id}", customers.update_customer, omits=("external_id",))
router.delete("/{id}", customers.delete_customer)
