"""The GraphQL root types: one line for each operation."""

from copy import copy
from dataclasses import dataclass
from functools import cache

import strawberry
from graphql import (
    GraphQLError,
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
)
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.name_converter import NameConverter
from strawberry.types import ExecutionContext
from strawberry.types.base import StrawberryObjectDefinition

from resolvers import deletions, usage
from resolvers.accounts import viewer
from resolvers.changes import changes, following
from resolvers.credentials import (
    authorized_applications,
    browser_sessions,
    oauth_client_documents,
    oauth_clients,
    personal_access_tokens,
    workspace_access_tokens,
)
from resolvers.customers import customers, members
from resolvers.customers import sessions as customer_sessions
from resolvers.events import events
from resolvers.events import ingestion as event_ingestion
from resolvers.file_shares import backfill as file_share_backfill
from resolvers.file_shares import downloads as file_share_downloads
from resolvers.file_shares import payments as file_share_payments
from resolvers.file_shares import refunds as file_share_refunds
from resolvers.file_shares import sessions as file_share_sessions
from resolvers.files import files
from resolvers.graph.descriptions import spell_descriptions
from resolvers.graph.execution.core_schema import core_schema
from resolvers.graph.execution.fields import OPERATION, expose
from resolvers.graph.execution.nodes import declare_nodes, name_nodes, node_field, nodes_of
from resolvers.graph.execution.plain_fields import mark_plain_fields
from resolvers.graph.survey.documents import Documents
from resolvers.graph.survey.extension import AdmissionExtension
from resolvers.metrics import following as metrics_following
from resolvers.metrics import metrics
from resolvers.operations.declaration import Operation
from resolvers.portal import downloads as portal_downloads
from resolvers.portal import members as portal_members
from resolvers.portal import portal
from resolvers.portal import sessions as portal_sessions
from resolvers.second_factors import overview as second_factors
from resolvers.second_factors import passkeys, totp
from resolvers.shares import custom_fields, shares
from resolvers.webhooks import deliveries as webhook_deliveries
from resolvers.webhooks import endpoints as webhook_endpoints
from resolvers.webhooks import trials as webhook_trials
from resolvers.workspaces import copying as workspace_copying
from resolvers.workspaces import deletion as workspace_deletion
from resolvers.workspaces import invitations as workspace_invitations
from resolvers.workspaces import members as workspace_members
from resolvers.workspaces import workspaces
from schema.kit.pages import Page
from schema.values.scalars import SCALARS


@strawberry.type(description="What a customer can access with its own token: its own data.")
class Portal:
    session = expose(portal_sessions.get_portal_session)
    customer = expose(portal.get_portal_customer)
    share = expose(portal.get_portal_share)
    shares = expose(portal.list_portal_shares)
    file_share_session = expose(portal.get_portal_file_share_session)
    file_share_sessions = expose(portal.list_portal_file_share_sessions)
    member = expose(portal_members.get_portal_member)
    members = expose(portal_members.list_portal_members)


def _enter_portal() -> Portal:
    return Portal()


@strawberry.type
class Reads:
    authorized_application = expose(authorized_applications.get_authorized_application)
    authorized_applications = expose(authorized_applications.list_authorized_applications)
    workspace_access_token = expose(workspace_access_tokens.get_workspace_access_token)
    workspace_access_tokens = expose(workspace_access_tokens.list_workspace_access_tokens)
    personal_access_token = expose(personal_access_tokens.get_personal_access_token)
    personal_access_tokens = expose(personal_access_tokens.list_personal_access_tokens)
    browser_session = expose(browser_sessions.get_browser_session)
    browser_sessions = expose(browser_sessions.list_browser_sessions)
    passkey = expose(passkeys.get_passkey)
    passkeys = expose(passkeys.list_passkeys)
    second_factors = expose(second_factors.get_second_factors)
    latest_change = expose(changes.get_latest_change)
    changes = expose(changes.get_changes)
    custom_field = expose(custom_fields.get_custom_field)
    custom_fields = expose(custom_fields.list_custom_fields)
    customer = expose(customers.get_customer)
    customers = expose(customers.list_customers)
    deletions = expose(deletions.list_deletions)
    event = expose(events.get_event)
    event_names = expose(events.list_event_names)
    events = expose(events.list_events)
    member = expose(members.get_member)
    members = expose(members.list_members)
    metrics_limits = expose(metrics.get_metrics_limits)
    metrics = expose(metrics.get_metrics)
    file_share_download = expose(file_share_downloads.get_file_share_download)
    file_share_downloads = expose(file_share_downloads.list_file_share_downloads)
    file_share_payment = expose(file_share_payments.get_file_share_payment)
    file_share_payments = expose(file_share_payments.list_file_share_payments)
    file_share_refund = expose(file_share_refunds.get_file_share_refund)
    file_share_refunds = expose(file_share_refunds.list_file_share_refunds)
    file_share_session = expose(file_share_sessions.get_file_share_session)
    file_share_sessions = expose(file_share_sessions.list_file_share_sessions)
    file = expose(files.get_file)
    file_download = expose(files.get_file_download)
    files = expose(files.list_files)
    webhook_endpoint = expose(webhook_endpoints.get_webhook_endpoint)
    webhook_endpoints = expose(webhook_endpoints.list_webhook_endpoints)
    webhook_delivery = expose(webhook_deliveries.get_webhook_delivery)
    webhook_deliveries = expose(webhook_deliveries.list_webhook_deliveries)
    oauth_client = expose(oauth_clients.get_oauth_client)
    oauth_clients = expose(oauth_clients.list_oauth_clients)
    usage = expose(usage.list_usage)
    oauth_client_documents = expose(oauth_client_documents.list_oauth_client_documents)
    share = expose(shares.get_share)
    shares = expose(shares.list_shares)
    portal = strawberry.field(_enter_portal, description="The customer portal, for customers' own tokens.")
    viewer = expose(viewer.get_viewer)
    workspace = expose(workspaces.get_workspace)
    workspaces = expose(workspaces.list_workspaces)
    workspace_invitation = expose(workspace_invitations.get_workspace_invitation)
    workspace_invitations = expose(workspace_invitations.list_workspace_invitations)
    workspace_member = expose(workspace_members.get_workspace_member)
    workspace_members = expose(workspace_members.list_workspace_members)


NODES = nodes_of(Reads)


@strawberry.type
class Query(Reads):
    node = node_field(NODES)


@strawberry.type
class Subscription:
    changes = expose(following.stream_changes)
    metrics_changed = expose(metrics_following.stream_metrics_changes)


@strawberry.type
class Mutation:
    revoke_authorized_application = expose(authorized_applications.revoke_authorized_application)
    create_workspace_access_token = expose(workspace_access_tokens.create_workspace_access_token)
    update_workspace_access_token = expose(workspace_access_tokens.update_workspace_access_token)
    delete_workspace_access_token = expose(workspace_access_tokens.delete_workspace_access_token)
    create_personal_access_token = expose(personal_access_tokens.create_personal_access_token)
    update_personal_access_token = expose(personal_access_tokens.update_personal_access_token)
    delete_personal_access_token = expose(personal_access_tokens.delete_personal_access_token)
    delete_browser_session = expose(browser_sessions.delete_browser_session)
    update_passkey = expose(passkeys.update_passkey)
    delete_passkey = expose(passkeys.delete_passkey)
    delete_totp = expose(totp.delete_totp)
    create_custom_field = expose(custom_fields.create_custom_field)
    update_custom_field = expose(custom_fields.update_custom_field)
    delete_custom_field = expose(custom_fields.delete_custom_field)
    create_customer = expose(customers.create_customer)
    update_customer = expose(customers.update_customer)
    delete_customer = expose(customers.delete_customer)
    create_customer_session = expose(customer_sessions.create_customer_session)
    ingest_events = expose(event_ingestion.ingest_events)
    create_member = expose(members.create_member)
    update_member = expose(members.update_member)
    delete_member = expose(members.delete_member)
    request_portal_code = expose(portal_sessions.request_portal_code)
    authenticate_portal_code = expose(portal_sessions.authenticate_portal_code)
    end_portal_session = expose(portal_sessions.end_portal_session)
    update_portal_customer = expose(portal.update_portal_customer)
    download_portal_file = expose(portal_downloads.download_portal_file)
    create_portal_member = expose(portal_members.create_portal_member)
    update_portal_member = expose(portal_members.update_portal_member)
    delete_portal_member = expose(portal_members.delete_portal_member)
    create_file_share_session = expose(file_share_sessions.create_file_share_session)
    record_download = expose(file_share_sessions.record_download)
    record_payment = expose(file_share_payments.record_payment)
    complete_file_share_session = expose(file_share_sessions.complete_file_share_session)
    expire_file_share_session = expose(file_share_sessions.expire_file_share_session)
    refund_payment = expose(file_share_payments.refund_payment)
    ingest_file_share_sessions = expose(file_share_backfill.ingest_file_share_sessions)
    create_file = expose(files.create_file)
    complete_file_upload = expose(files.complete_file_upload)
    delete_file = expose(files.delete_file)
    create_webhook_endpoint = expose(webhook_endpoints.create_webhook_endpoint)
    update_webhook_endpoint = expose(webhook_endpoints.update_webhook_endpoint)
    delete_webhook_endpoint = expose(webhook_endpoints.delete_webhook_endpoint)
    rotate_webhook_endpoint_secret = expose(webhook_endpoints.rotate_webhook_endpoint_secret)
    test_webhook_endpoint = expose(webhook_trials.test_webhook_endpoint)
    redeliver_webhook_endpoint = expose(webhook_deliveries.redeliver_webhook_endpoint)
    redeliver_webhook_delivery = expose(webhook_deliveries.redeliver_webhook_delivery)
    create_oauth_client = expose(oauth_clients.create_oauth_client)
    update_oauth_client = expose(oauth_clients.update_oauth_client)
    delete_oauth_client = expose(oauth_clients.delete_oauth_client)
    rotate_oauth_client_secret = expose(oauth_clients.rotate_oauth_client_secret)
    register_oauth_client_documents = expose(oauth_client_documents.register_oauth_client_documents)
    delete_oauth_client_document = expose(oauth_client_documents.delete_oauth_client_document)
    create_share = expose(shares.create_share)
    update_share = expose(shares.update_share)
    delete_share = expose(shares.delete_share)
    create_workspace = expose(workspaces.create_workspace)
    update_workspace = expose(workspaces.update_workspace)
    delete_workspace = expose(workspace_deletion.delete_workspace)
    copy_workspace = expose(workspace_copying.copy_workspace)
    invite_workspace_member = expose(workspace_members.invite_workspace_member)
    update_workspace_member = expose(workspace_members.update_workspace_member)
    accept_workspace_invitation = expose(workspace_invitations.accept_workspace_invitation)
    decline_workspace_invitation = expose(workspace_invitations.decline_workspace_invitation)
    remove_workspace_member = expose(workspace_members.remove_workspace_member)


class Schema(strawberry.Schema):
    """Strawberry's schema without its log, which has a traceback and the document for each refusal.

    `documents` are those that it has validated.
    """

    documents: Documents

    def process_errors(
        self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None
    ) -> None:
        """Does nothing; the endpoint logs unexpected errors."""


class Names(NameConverter):
    """A page of shares is a `ShareConnection`: Relay's and urql's tools know connections by their names."""

    def from_object(self, object_type: StrawberryObjectDefinition) -> str:
        name = super().from_object(object_type)
        is_list = issubclass(object_type.origin, Page)
        return f"{name.removesuffix('Page')}Connection" if is_list else name


def make_schema() -> Schema:
    """The executable schema, which keeps documents of its own."""
    schema = copy(_graph())
    schema.documents = documents = Documents()
    schema.extensions = (lambda: AdmissionExtension(documents),)
    return schema


@cache
def _graph() -> Schema:
    """The types and fields, which are the same for every schema of a process."""
    declare_nodes(NODES.values())
    schema = Schema(
        Query, Mutation, Subscription, config=StrawberryConfig(scalar_map=SCALARS, name_converter=Names())
    )
    name_nodes(core_schema(schema), NODES)
    mark_plain_fields(core_schema(schema))
    spell_descriptions(core_schema(schema))
    return schema


@dataclass(frozen=True)
class Exposed:
    """An operation's place in the graph: `kind` is `query`, `mutation` or `subscription`, `path` the names
    of its fields."""

    operation: Operation
    kind: str
    path: tuple[str, ...]
    field: GraphQLField


def exposed(schema: GraphQLSchema) -> dict[str, Exposed]:
    """The operations of the graph by name."""
    operations: dict[str, Exposed] = {}

    def collect(kind: str, owner: GraphQLNamedType | None, path: tuple[str, ...]) -> None:
        for name, field in owner.fields.items() if isinstance(owner, GraphQLObjectType) else ():
            operation = field.extensions["strawberry-definition"].metadata.get(OPERATION)
            if operation is None:
                collect(kind, get_named_type(field.type), (*path, name))
            else:
                operations[operation.name] = Exposed(operation, kind, (*path, name), field)

    collect("query", schema.query_type, ())
    collect("mutation", schema.mutation_type, ())
    collect("subscription", schema.subscription_type, ())
    return operations
