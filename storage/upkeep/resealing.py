"""Seals what the database keeps anew with the current secret key, so that those before it can go."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Column, and_, literal, select, tuple_
from sqlmodel import SQLModel

from storage.engine.database import Database
from storage.rows.rows import table_of, update_rows
from storage.sealing import Purpose, Unreadable, sealed_anew
from storage.tables.accounts.second_factors import RecoveryCodeRow, TotpSecretRow
from storage.tables.credentials.signing_keys import SigningKeyRow
from storage.tables.webhooks.endpoints import WebhookSecretRow

AT_A_TIME = 500


@dataclass(frozen=True)
class SealedColumn:
    """A column of sealed texts; `about` is the column that the seal is bound to."""

    row: type[SQLModel]
    column: str
    about: str
    purpose: Purpose


# What is sealed by the secret key and kept; a test compares it with the columns of the tables.
SEALED = (
    SealedColumn(SigningKeyRow, "private_key", "kid", Purpose.SIGNING_KEY),
    SealedColumn(TotpSecretRow, "sealed", "user_id", Purpose.TOTP),
    SealedColumn(RecoveryCodeRow, "hash", "user_id", Purpose.RECOVERY_CODE),
    SealedColumn(WebhookSecretRow, "sealed", "id", Purpose.WEBHOOK_SECRET),
)


@dataclass
class Resealed:
    """How many texts were sealed anew, were sealed by the current key already, and cannot be opened."""

    anew: int = 0
    current: int = 0
    unreadable: int = 0


async def reseal(database: Database, secret: bytes) -> Resealed:
    """Seal every kept text anew that another accepted key has sealed, a few hundred in a transaction."""
    counts = Resealed()
    for sealed in SEALED:
        last: Sequence[UUID] | None = None
        while rows := await _rows_after(database, sealed, last):
            last = rows[-1][: len(_key(sealed))]
            await _reseal(database, secret, sealed, rows, counts)
    return counts


def _key(sealed: SealedColumn) -> list[Column[Any]]:
    return list(table_of(sealed.row).primary_key.columns)


async def _rows_after(database: Database, sealed: SealedColumn, last: Sequence[UUID] | None) -> Sequence[Any]:
    """The next rows in the order of the table's key, whose columns come first in each."""
    table, key = table_of(sealed.row), _key(sealed)
    texts = table.c[sealed.column].label("sealed_text"), table.c[sealed.about].label("about")
    statement = select(*key, *texts).order_by(*key).limit(AT_A_TIME)
    if last is not None:
        ends = [literal(value, column.type) for value, column in zip(last, key, strict=True)]
        statement = statement.where(tuple_(*key) > tuple_(*ends))
    async with database.read() as connection:
        return (await connection.execute(statement)).all()


async def _reseal(
    database: Database, secret: bytes, sealed: SealedColumn, rows: Sequence[Any], counts: Resealed
) -> None:
    table, key = table_of(sealed.row), _key(sealed)
    async with database.write() as connection:
        for row in rows:
            try:
                text = sealed_anew(secret, sealed.purpose, row.sealed_text, str(row.about))
            except Unreadable:
                counts.unreadable += 1
                continue
            if text == row.sealed_text:
                counts.current += 1
                continue
            # A row that changed meanwhile was written by the current key.
            own = [column == value for column, value in zip(key, row, strict=False)]
            same = and_(*own, table.c[sealed.column] == row.sealed_text)
            await update_rows(connection, sealed.row, same, **{sealed.column: text})
            counts.anew += 1
