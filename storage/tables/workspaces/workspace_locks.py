"""The row that is locked while what is folded of a workspace changes."""

from uuid import UUID

from sqlmodel import Field, SQLModel


class WorkspaceLockRow(SQLModel, table=True):
    """Made when the workspace is locked first; SQLite, which has one writer, has none."""

    __tablename__ = "workspace_locks"

    workspace_id: UUID = Field(primary_key=True, foreign_key="workspaces.id")
