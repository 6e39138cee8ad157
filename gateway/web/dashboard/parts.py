"""The parts of a dashboard beside its charts. A part that is refused says so and takes nothing else down."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gateway.web.dashboard.metrics.question import Question
from gateway.web.kit.visits import Visit
from resolvers.credentials.workspace_access_tokens import list_workspace_access_tokens
from resolvers.events.events import list_events
from resolvers.file_shares.payments import list_file_share_payments
from resolvers.file_shares.sessions import list_file_share_sessions
from resolvers.shares.shares import list_shares
from resolvers.workspaces.members import list_workspace_members
from schema.errors import Failure
from schema.kit.pages import MOST_PER_PAGE
from schema.shares.shares import Share
from schema.workspaces.workspaces import Workspace

LATEST = 6
Content = TypeVar("Content")


@dataclass(frozen=True)
class Part(Generic[Content]):
    """What an operation answered, or why it was refused."""

    content: Content | None
    failure: Failure | None = None


@dataclass(frozen=True)
class Step:
    """Something to do first in a new workspace."""

    name: str
    why: str
    address: str
    is_done: bool


async def attempt(answer: Awaitable[Content]) -> Part[Content]:
    try:
        return Part(await answer)
    except Failure as failure:
        return Part(None, failure)


async def shares_of(visit: Visit, workspace: Workspace) -> Part[Sequence[Share]]:
    """The workspace's shares by name, at most a page of them."""
    query = {"workspace_id": [str(workspace.id)], "limit": MOST_PER_PAGE, "sorting": ["name"]}
    part = await attempt(visit.call(list_shares, filters=query))
    return Part(None if part.content is None else part.content.data, part.failure)


async def latest(visit: Visit, workspace: Workspace, question: Question) -> dict[str, Part[Any]]:
    """The latest sessions and payments of the range."""
    query = {**question.filters(workspace), **question.dates(), "limit": LATEST}
    paid = query | ({} if question.currency is None else {"currency": [question.currency]})
    return {
        "sessions": await attempt(visit.call(list_file_share_sessions, filters=query)),
        "payments": await attempt(visit.call(list_file_share_payments, filters=paid)),
    }


async def first_steps(visit: Visit, workspace: Workspace, has_share: bool) -> list[Step]:
    """What to do first, and what of it is done. Raises `Failure`."""
    mine = {"workspace_id": [str(workspace.id)], "limit": 2}
    tokens = (await visit.call(list_workspace_access_tokens, filters=mine)).data
    events = (await visit.call(list_events, filters={**mine, "limit": 1})).data
    members = (await visit.call(list_workspace_members, filters=mine)).data
    settings = f"/workspaces/{workspace.slug}"
    share = Step("Create a share", "What you sell or give away.", f"/{workspace.slug}/shares", has_share)
    token = Step(
        "Create an access token", "For your program's calls.", f"{settings}/access-tokens", bool(tokens)
    )
    event = Step("Report an event", "Something that a customer did.", "#report", bool(events))
    invitation = Step(
        "Invite a colleague", "Members see this dashboard too.", f"{settings}/members", len(members) > 1
    )
    return [share, token, event, invitation]
