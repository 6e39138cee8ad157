"""What downloads, payments and refunds have in common: each happened in a session at a moment."""

from typing import Annotated

from pydantic import Field

from oauth.scopes import Scope
from schema.file_shares.links import OfShareAndCustomer
from schema.file_shares.sessions import (
    CustomerIds,
    ExternalCustomerIdFilter,
    FileShareSession,
    OtherCustomerIds,
    OtherShareIds,
    ReportedIdFilter,
    ShareIdsOrNone,
)
from schema.kit.base import Resource
from schema.kit.fields import CreatedAt, WorkspaceId, WorkspaceIdFilter
from schema.kit.links import link
from schema.kit.ranges import RangeQuery
from schema.kit.sorting import Sorting
from schema.values.scalars import Id, Moment


class FileShareReport(OfShareAndCustomer, Resource):
    """What happened in a session, with the share and customer of the session."""

    created_at: CreatedAt
    workspace_id: WorkspaceId
    file_share_session_id: Id
    share_id: Annotated[Id | None, Field(description="The share of the session.")]
    customer_id: Annotated[Id | None, Field(description="The customer of the session.")]
    external_id: Annotated[str | None, Field(description="The id in the caller's system.")]
    at: Annotated[Moment, Field(description="The time of occurrence.")]

    @link(Scope.FILE_SHARE_SESSIONS_READ)
    def file_share_session(self) -> FileShareSession | None:
        """The session in which it happened."""


class FileShareReportSorting(Sorting, keys=("at", "modified_at")): ...


class FileShareReportQuery(RangeQuery):
    """The arguments of the lists of downloads, payments and refunds."""

    workspace_id: WorkspaceIdFilter = None
    share_id: ShareIdsOrNone = None
    share_id_not: OtherShareIds = None
    customer_id: CustomerIds = None
    customer_id_not: OtherCustomerIds = None
    external_customer_id: ExternalCustomerIdFilter = None
    file_share_session_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only what happened in these sessions.")
    ] = None
    external_id: ReportedIdFilter = None
    sorting: Annotated[
        list[FileShareReportSorting] | None,
        Field(max_length=4, description="The sort keys in order; the default is `-at`."),
    ] = None
