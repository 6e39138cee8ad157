"""Credentials that are looked up together with what they are used for: one way to the database for both."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oauth.principals import Principal
from storage.engine.database import Database
from storage.engine.outages import is_lost, is_outage
from storage.engine.statements.joined import can_join, joined
from storage.engine.statements.kept import Kept

Fetch = Callable[[Kept, Mapping[str, Any]], Awaitable[Sequence[Any]]]


class CredentialChanged(Exception):
    """A credential is not what it was assumed to be. Nothing that was read for it may be answered."""


@dataclass(eq=False, slots=True)
class Assumed:
    """A credential that counts as unchanged since its last use until its row has been read again.

    `look_up` reads it with `values`, and found `row` before. `is_open` until it has found the same again, but
    for the moment of the last use, at the place `last_use`. `outage` is why it could not be looked up.
    """

    principal: Principal
    database: Database
    look_up: Kept
    values: Mapping[str, Any]
    row: Sequence[Any]
    last_use: int
    is_open: bool = True
    has_changed: bool = False
    outage: Exception | None = None
    _afterwards: list[Callable[[], None]] = field(default_factory=list)

    @property
    def is_confirmed(self) -> bool:
        """Whether it was looked up, and nothing has found it changed."""
        return not (self.is_open or self.has_changed)

    async def confirm(self) -> None:
        """Look the credential up, unless that was done. Raises `CredentialChanged`.

        It does not ask a database again that did not answer: whoever asks may wait for as long each time.
        """
        if self.has_changed:
            raise CredentialChanged
        if self.is_open:
            if self.outage is not None:
                raise self.outage
            try:
                found = await self.database.fetch(self.look_up, self.values)
            except Exception as error:
                if is_outage(error):
                    self.outage = error
                raise
            self._compare(found)

    def once_confirmed(self, action: Callable[[], None]) -> None:
        """Do this once the credential is confirmed, or never."""
        if self.is_confirmed:
            action()
        else:
            self._afterwards.append(action)

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
        try:
            rows = await fetch(whole, {"0": self.values, "1": values})
        except Exception as error:
            # Of a statement that took too long, or had no share of the connections, the look-up may succeed.
            if is_lost(error):
                self.outage = error
            raise
        # Without a row of the credential there is none of the other statement either.
        found, own = both.split(rows[0]) if rows else ([], [])
        self._compare(found)
        return own

    def _compare(self, found: Sequence[Any]) -> None:
        if len(found) != 1 or not self._is_same(found[0]):
            self.has_changed = True
            raise CredentialChanged
        self.is_open = False
        if not self.has_changed:
            actions, self._afterwards = self._afterwards, []
            for action in actions:
                action()

    def _is_same(self, found: Sequence[Any]) -> bool:
        if found == self.row:
            return True
        # Another process has noted a use.
        before, after = slice(self.last_use), slice(self.last_use + 1, None)
        return bool(found[before] == self.row[before] and found[after] == self.row[after])
