"""Credentials that are looked up together with what they are used for: one way to the database for both."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oauth.principals import Principal
from storage.engine.database import Database
from storage.engine.statements.joined import can_join, joined
from storage.engine.statements.kept import Kept

Fetch = Callable[[Kept, Mapping[str, Any]], Awaitable[Sequence[Any]]]


class CredentialChanged(Exception):
    """A credential is not what it was assumed to be. Nothing that was read for it may be answered."""


@dataclass(eq=False, slots=True)
class Assumed:
    """A credential that counts as unchanged since its last use until its row has been read again.

    `look_up` reads it with `values`, and found `row` before. `is_open` until it has found the same again.
    """

    principal: Principal
    database: Database
    look_up: Kept
    values: Mapping[str, Any]
    row: Sequence[Any]
    is_open: bool = True
    has_changed: bool = False

    async def confirm(self) -> None:
        """Look the credential up, unless that was done. Raises `CredentialChanged`."""
        if self.has_changed:
            raise CredentialChanged
        if self.is_open:
            self._compare(await self.database.fetch(self.look_up, self.values))

    async def fetch(self, fetch: Fetch, kept: Kept, values: Mapping[str, Any]) -> Sequence[Any]:
        """The rows of a kept statement, which `fetch` reads together with that of the credential.

        Both are of one state: the answer is as the credential permits at the moment in which it was read.
        Raises `CredentialChanged`.
        """
        dialect = self.database.dialect
        if self.has_changed or not (self.is_open and can_join(kept, dialect)):
            await self.confirm()
            return await fetch(kept, values)
        both, whole = joined((self.look_up, kept), dialect)
        rows = await fetch(whole, {"0": self.values, "1": values})
        # Without a row of the credential there is none of the other statement either.
        found, own = both.split(rows[0]) if rows else ([], [])
        self._compare(found)
        return own

    def _compare(self, found: Sequence[Any]) -> None:
        if len(found) != 1 or found[0] != self.row:
            self.has_changed = True
            raise CredentialChanged
        self.is_open = False
