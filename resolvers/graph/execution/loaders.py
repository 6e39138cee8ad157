"""What links between types need: a check of their scopes, and loaders that batch what they request."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from strawberry.dataloader import DataLoader

from oauth.scopes import Scope
from resolvers.customers import loaders as customer_loaders
from resolvers.events import answers as event_answers
from resolvers.file_shares import loaders as file_share_loaders
from resolvers.operations.admission import Demand, check_demands
from resolvers.operations.context import Caller, Context
from resolvers.operations.rows.linked_pages import load_pages
from resolvers.workspaces import workspaces

Batch = Callable[[Context, Sequence[Any]], Awaitable[list[Any]]]

LOADERS: dict[str, Batch] = {
    "customer": file_share_loaders.load_customers,
    "customer_events": partial(load_pages, event_answers.EVENTS_OF_CUSTOMER),
    "customer_file_share_sessions": partial(load_pages, file_share_loaders.SESSIONS_OF_CUSTOMER),
    "event": event_answers.load_events,
    "event_children": partial(load_pages, event_answers.CHILDREN),
    "file_share_session": file_share_loaders.load_file_share_sessions,
    "file_share_session_downloads": partial(load_pages, file_share_loaders.DOWNLOADS),
    "file_share_session_payments": partial(load_pages, file_share_loaders.PAYMENTS),
    "file_share_session_refunds": partial(load_pages, file_share_loaders.REFUNDS),
    "members": customer_loaders.load_members,
    "share": file_share_loaders.load_shares,
    "workspace": workspaces.load_workspaces,
}


def make_load(ctx: Context) -> Callable[[str, Any], Awaitable[Any]]:
    """The function `load(loader, key)` for one request."""
    loaders: dict[str, DataLoader[Any, Any]] = {}

    def bind(batch: Batch) -> Callable[[list[Any]], Awaitable[list[Any]]]:
        async def load_many(keys: list[Any]) -> list[Any]:
            return await batch(ctx, keys)

        return load_many

    def load(name: str, key: Any) -> Awaitable[Any]:
        if name not in loaders:
            loaders[name] = DataLoader(load_fn=bind(LOADERS[name]))
        return loaders[name].load(key)

    return load


def make_check(caller: Caller) -> Callable[[Scope], None]:
    """The function `check(scope)` for one request. Raises what `check_demands` raises."""
    met: set[Scope] = set()

    def check(scope: Scope) -> None:
        if scope not in met:
            check_demands(caller, [Demand(scope)])
            met.add(scope)

    return check
