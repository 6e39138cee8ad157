"""The `signing_keys` table: keys that sign id_tokens."""

from datetime import datetime
from typing import Any

from sqlmodel import Field

from storage.tables.base import DirectoryRow
from storage.types import JsonColumn, MomentColumn


class SigningKeyRow(DirectoryRow, table=True):
    """An RSA key; its private half is encrypted with the secret key. A retired key no longer signs."""

    __tablename__ = "signing_keys"

    kid: str = Field(unique=True)
    public_key: dict[str, Any] = Field(sa_type=JsonColumn)
    private_key: str
    retired_at: datetime | None = Field(default=None, index=True, sa_type=MomentColumn)
