"""`/api/oauth2/clients/`."""

from resolvers.credentials import oauth_client_documents, oauth_clients
from rest_compat.routing.router import Router

router = Router("/oauth2/clients", "OAuth clients", "Applications that others can connect to their accounts.")
router.post("/", oauth_clients.create_oauth_client)
router.get("/", oauth_clients.list_oauth_clients)
router.get("/{id}", oauth_clients.get_oauth_client)
router.patch("/{id}", oauth_clients.update_oauth_client)
router.delete("/{id}", oauth_clients.delete_oauth_client)
router.post("/{id}/documents", oauth_client_documents.register_oauth_client_documents)
router.post("/{id}/secret", oauth_clients.rotate_oauth_client_secret)
