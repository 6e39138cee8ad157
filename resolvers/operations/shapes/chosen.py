"""What a caller chooses of the objects of a shape: the fields and links that a statement reads for them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from sqlalchemy import ColumnElement, FromClause

from oauth.principals import Principal


class Linked(Protocol):
    """Rows behind a link, which are read as a cell of the row that links to them, by its columns `keys`."""

    @property
    def keys(self) -> tuple[str, ...]: ...

    def cell(self, row: FromClause, principal: Principal) -> ColumnElement[Any]:
        """The cell of this row, with what the principal can see."""


@dataclass(frozen=True)
class Chosen:
    """What a caller selects of each object: fields, what is selected of fields that are objects, and links.

    None for the fields selects those that the shape has. With `tag`, the object's entity tag is read too,
    which is made of all of them.
    """

    fields: frozenset[str] | None
    inner: tuple[tuple[str, "Chosen"], ...] = ()
    links: tuple[Linked, ...] = ()
    tag: bool = False

    @cached_property
    def _hash(self) -> int:
        return hash((self.fields, self.inner, self.links, self.tag))

    def __hash__(self) -> int:
        """Computed once: what is selected is looked up at each request."""
        return self._hash
