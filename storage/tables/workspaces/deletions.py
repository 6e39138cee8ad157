"""The table of deletions: which resources a workspace no longer has."""

from sqlalchemy import Index

from storage.tables.base import TenantRow


class DeletionRow(TenantRow, table=True):
    """A deleted `resource` with this `id`; `created_at` is the moment of its deletion."""

    __tablename__ = "deletions"
    __table_args__ = (
        Index("ix_deletions_created_at", "workspace_id", "created_at", "id"),
        Index("ix_deletions_expiry", "created_at"),
    )

    resource: str
