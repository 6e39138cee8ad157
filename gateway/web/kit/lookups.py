"""Records that people name in a field: by id, email, name or external id."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from gateway.web.kit.visits import Visit
from resolvers.customers.customers import get_customer, list_customers
from resolvers.shares.shares import get_share, list_shares
from schema.customers.customers import Customer
from schema.errors import Invalid, NotFound, problem
from schema.shares.shares import Share
from schema.workspaces.workspaces import Workspace

LONGEST = 256
MOST_NAMED = 3


@dataclass(frozen=True)
class Lookup:
    """How records of a kind are found; `names` are the texts that mean one of them, its own first."""

    one: str
    many: str
    get: Callable[..., Awaitable[Any]]
    find: Callable[..., Awaitable[Any]]
    names: Callable[[Any], tuple[str, ...]]

    async def matching(self, visit: Visit, workspace: Workspace, text: str, limit: int) -> list[Any]:
        """The records whose names contain the text, those that are called so first. Raises `Invalid`."""
        query = {"workspace_id": [str(workspace.id)], "query": text[:LONGEST], "limit": limit}
        found: list[Any] = (await visit.call(self.find, filters=query)).data
        return sorted(found, key=lambda each: not self._is_called(each, text))

    async def one_of(self, visit: Visit, workspace: Workspace, field: str, text: str) -> Any:
        """The record that the text means. Raises `Invalid` if there is not just one."""
        try:
            record = await visit.call(self.get, id=UUID(text))
            found = [record] if record.workspace_id == workspace.id else []
        except NotFound:
            found = []
        except ValueError:
            found = await self.matching(visit, workspace, text, MOST_NAMED + 1)
            found = [each for each in found if self._is_called(each, text)] or found
        if len(found) == 1:
            return found[0]
        raise Invalid([problem((field,), self._refusal(found), self.one, input=text)])

    def _is_called(self, record: Any, text: str) -> bool:
        return text.strip().lower() in (name.lower() for name in self.names(record))

    def _refusal(self, found: list[Any]) -> str:
        if not found:
            return f"No {self.one} matches this"
        named = ", ".join(self.names(each)[0] for each in found[:MOST_NAMED])
        more = ", ..." if len(found) > MOST_NAMED else ""
        return f"Several {self.many} match: {named}{more}"


def _names_of_customer(customer: Customer) -> tuple[str, ...]:
    return tuple(filter(None, (customer.email, customer.name, customer.external_id)))


def _names_of_share(share: Share) -> tuple[str, ...]:
    return (share.name,)


CUSTOMERS = Lookup("customer", "customers", get_customer, list_customers, _names_of_customer)
SHARES = Lookup("share", "shares", get_share, list_shares, _names_of_share)
# By the field that has the id.
LOOKUPS: Mapping[str, Lookup] = {
    "customer_id": CUSTOMERS,
    "customer_id_not": CUSTOMERS,
    "share_id": SHARES,
    "share_id_not": SHARES,
}
