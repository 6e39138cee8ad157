"""Rows of every kind that ends, for tests of what is deleted after its time."""

from datetime import date
from itertools import count
from uuid import uuid4

from sqlalchemy import select

from storage.clock import now
from storage.rows.rows import insert_row, table_of
from storage.tables.accounts.mailed_links import MailedLinkRow
from storage.tables.accounts.second_steps import AnsweredChallengeRow, SecondStepRow
from storage.tables.accounts.users import UserRow
from storage.tables.changes import ChangeRow
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_client_documents import OAuthClientDocumentRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.credentials.oauth_grants import OAuthGrantRow
from storage.tables.credentials.refresh_answers import RefreshAnswerRow
from storage.tables.credentials.signing_keys import SigningKeyRow
from storage.tables.credentials.usage import UsageRow
from storage.tables.customers.customers import CustomerRow, CustomerSessionRow
from storage.tables.customers.portal_codes import PortalCodeRow
from storage.tables.idempotency_keys import IdempotencyKeyRow
from storage.tables.webhooks.deliveries import WebhookAttemptRow, WebhookDeliveryRow
from storage.tables.webhooks.endpoints import WebhookEndpointRow, WebhookSecretRow
from storage.tables.workspaces.deletions import DeletionRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

_numbers = count(1)


class Rows:
    """Inserts rows of every kind that ends; two workspaces take turns."""

    def __init__(self, database):
        self.database = database

    async def begin(self):
        folded = {"name": "Acme", "socials": [], "details": {}}
        async with self.database.write() as connection:
            self.workspaces = [
                (await insert_row(connection, WorkspaceRow, slug=slug, **folded)).id for slug in "ab"
            ]
            self.user = (await insert_row(connection, UserRow, email="a@b.test", password_hash="x")).id
            self.client = (
                await insert_row(
                    connection,
                    OAuthClientRow,
                    client_id="c",
                    name="A",
                    redirect_uris=[],
                    scopes=[],
                    token_endpoint_auth_method="none",
                )
            ).id
            self.customers, self.endpoints = {}, {}
            for id in self.workspaces:
                customer = await insert_row(connection, CustomerRow, workspace_id=id, email="c@d.test")
                self.customers[id] = customer.id
                values = {"url": "https://e.test", "kinds": ["*"], "scopes": [], "maker_kind": "user"}
                endpoint = await insert_row(connection, WebhookEndpointRow, workspace_id=id, **values)
                self.endpoints[id] = endpoint.id
        return self

    def values(self, model):
        """Values of the columns without a default, different for each row."""
        number = next(_numbers)
        unique, workspace = uuid4().hex, self.workspaces[number % 2]
        return {
            RefreshAnswerRow: {"hash": unique, "sealed": "s"},
            IdempotencyKeyRow: {"subject": "s", "operation": "o", "key": unique, "digest": "d"},
            CredentialRow: {"hash": unique, "scopes": []},
            OAuthGrantRow: {
                "oauth_client_id": self.client,
                "user_id": self.user,
                "scopes": [],
                "redirect_uri": "r",
                "authenticated_at": now(),
            },
            SigningKeyRow: {"kid": unique, "public_key": {}, "private_key": "p"},
            CustomerSessionRow: {"workspace_id": workspace, "customer_id": self.customers[workspace]},
            PortalCodeRow: {"workspace_id": workspace, "recipient": "r", "hash": unique},
            MailedLinkRow: {"user_id": self.user, "purpose": "password", "recipient": "r", "hash": unique},
            SecondStepRow: {"user_id": self.user, "hash": unique, "password_digest": "d"},
            AnsweredChallengeRow: {"hash": unique},
            ChangeRow: {
                "workspace_id": workspace,
                "position": 10**9 + number,
                "kind": "share.updated",
                "actor_kind": "system",
            },
            WebhookDeliveryRow: {
                "workspace_id": workspace,
                "endpoint_id": self.endpoints[workspace],
                "change_id": uuid4(),
                "position": number,
                "kind": "share.created",
                **dict.fromkeys(("at", "first_due_at", "due_at"), now()),
            },
            WebhookAttemptRow: {
                "workspace_id": workspace,
                "delivery_id": uuid4(),
                "milliseconds": 1,
                "request_headers": {},
                "response_headers": {},
                **dict.fromkeys(("request_body", "response_body"), ""),
            },
            WebhookSecretRow: {
                "workspace_id": workspace,
                "endpoint_id": self.endpoints[workspace],
                "sealed": "s",
            },
            WorkspaceMemberRow: {"workspace_id": workspace, "email": f"{unique}@e.test"},
            DeletionRow: {"workspace_id": workspace, "resource": "file"},
            OAuthClientDocumentRow: {"oauth_client_id": self.client, "hash": unique, "is_registered": False},
            UsageRow: {
                "workspace_id": workspace,
                "client_kind": "others",
                "client_id": workspace,
                "surface": "rest",
                "name": unique,
                "kind": "operation",
                "is_deprecated": False,
                "requests": 1,
                "last_used_at": now(),
                "day": date(2026, 1, 1),
            },
        }[model]

    async def add(self, model, **values):
        """The key of a new row."""
        async with self.database.write() as connection:
            row = await insert_row(connection, model, **{**self.values(model), **values})
        return tuple(getattr(row, column.name) for column in table_of(model).primary_key.columns)

    async def keys(self, model):
        async with self.database.read() as connection:
            return set(map(tuple, await connection.execute(select(*table_of(model).primary_key.columns))))
