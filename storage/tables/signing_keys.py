"""The `signing_keys` table: what id_tokens are signed with."""

from datetime import datetime
from typing import Any

from sqlmodel import Field

from storage.tables.base import DirectoryRow
from storage.types import JsonColumn, MomentColumn


class SigningKeyRow(DirectoryRow, table=True):
    """An RSA key; the private half is encrypted under the secret key. A retired one signs no more."""

    __tablename__ = "signing_keys"

    kid: str = Field(unique=True)
    public_key: dict[str, Any] = Field(sa_type=JsonColumn)
    private_key: str
    retired_at: datetime | None = Field(default=None, sa_type=MomentColumn)
