"""`/api/oauth2/documents/`."""

from resolvers.credentials import oauth_client_documents
from rest_compat.routing.router import Router

router = Router(
    "/oauth2/documents",
    "OAuth client documents",
    "GraphQL documents that OAuth clients registered, or send although they are not registered.",
)
router.get("/", oauth_client_documents.list_oauth_client_documents)
router.delete("/{id}", oauth_client_documents.delete_oauth_client_document)
