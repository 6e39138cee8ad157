"""The routes of the signed-in user: their credentials, second factors, applications and invitations."""

from resolvers.accounts import viewer
from resolvers.credentials import (
    authorized_applications,
    browser_sessions,
    oauth_client_documents,
    oauth_clients,
    personal_access_tokens,
)
from resolvers.second_factors import overview as second_factors
from resolvers.second_factors import passkeys, totp
from resolvers.workspaces import invitations
from rest_compat.routing.router import Router

router = Router()

router.about("Viewer", "Who is calling, and with which scopes.")
router.get("/viewer", viewer.get_viewer)

router.about("Browser sessions", "Browsers in which the user is signed in.")
router.get("/browser-sessions/", browser_sessions.list_browser_sessions)
router.get("/browser-sessions/{id}", browser_sessions.get_browser_session)
router.delete("/browser-sessions/{id}", browser_sessions.delete_browser_session)

router.about("Second factors", "What the user needs to sign in besides the password.")
router.get("/passkeys/", passkeys.list_passkeys)
router.get("/passkeys/{id}", passkeys.get_passkey)
router.patch("/passkeys/{id}", passkeys.update_passkey)
router.delete("/passkeys/{id}", passkeys.delete_passkey)
router.get("/second-factors/", second_factors.get_second_factors)
router.delete("/second-factors/totp", totp.delete_totp)

router.about("Personal access tokens", "Tokens with access to all workspaces of the user.")
router.post("/personal-access-tokens/", personal_access_tokens.create_personal_access_token)
router.get("/personal-access-tokens/", personal_access_tokens.list_personal_access_tokens)
router.get("/personal-access-tokens/{id}", personal_access_tokens.get_personal_access_token)
router.patch("/personal-access-tokens/{id}", personal_access_tokens.update_personal_access_token)
router.delete("/personal-access-tokens/{id}", personal_access_tokens.delete_personal_access_token)

router.about("Authorized applications", "Applications to which the user has given access.")
router.get("/authorized-applications/", authorized_applications.list_authorized_applications)
router.get("/authorized-applications/{id}", authorized_applications.get_authorized_application)
router.delete("/authorized-applications/{id}", authorized_applications.revoke_authorized_application)

router.about("OAuth clients", "Applications that others can connect to their accounts.")
router.post("/oauth2/clients/", oauth_clients.create_oauth_client)
router.get("/oauth2/clients/", oauth_clients.list_oauth_clients)
router.get("/oauth2/clients/{id}", oauth_clients.get_oauth_client)
router.patch("/oauth2/clients/{id}", oauth_clients.update_oauth_client)
router.delete("/oauth2/clients/{id}", oauth_clients.delete_oauth_client)
router.post("/oauth2/clients/{id}/documents", oauth_client_documents.register_oauth_client_documents)
router.post("/oauth2/clients/{id}/secret", oauth_clients.rotate_oauth_client_secret)

router.about(
    "OAuth client documents",
    "GraphQL documents that OAuth clients registered, or send although they are not registered.",
)
router.get("/oauth2/documents/", oauth_client_documents.list_oauth_client_documents)
router.delete("/oauth2/documents/{id}", oauth_client_documents.delete_oauth_client_document)

router.about("Workspace invitations", "Invitations that the user can accept or decline.")
router.get("/workspace-invitations/", invitations.list_workspace_invitations)
router.get("/workspace-invitations/{id}", invitations.get_workspace_invitation)
router.post("/workspace-invitations/{id}/accept", invitations.accept_workspace_invitation, status=200)
router.post("/workspace-invitations/{id}/decline", invitations.decline_workspace_invitation, status=204)
