"""What the pages of a workspace share: the workspace in the address, the sections, and the last one used."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.routing import Route

from gateway.web.kit.moments import DEFAULT_ZONE
from gateway.web.kit.visits import HOME_PATH, Visit
from resolvers.workspaces.workspaces import get_workspace, list_workspaces
from schema.kit.pages import MOST_PER_PAGE
from schema.workspaces.workspaces import Workspace, WorkspaceItem


@dataclass(frozen=True)
class Section:
    """A link of a workspace's sidebar; `path` is the route of its page, with `{slug}`.

    After the key `g`, `key` leads to it.
    """

    name: str
    path: str
    key: str = ""

    def address(self, workspace: WorkspaceItem) -> str:
        return self.path.replace("{slug}", workspace.slug)


# In the order of the sidebar. A section without a route of its path is not shown.
SECTIONS = (
    Section("Dashboard", "/{slug}/dashboard", "d"),
    Section("Shares", "/{slug}/shares", "s"),
    Section("Customers", "/{slug}/customers", "c"),
    Section("Sessions", "/{slug}/sessions", "o"),
    Section("Payments", "/{slug}/payments", "p"),
    Section("Events", "/{slug}/events", "e"),
    Section("Files", "/{slug}/files", "f"),
    Section("Custom fields", "/{slug}/custom-fields"),
    Section("Settings", f"{HOME_PATH}/{{slug}}"),
)


async def workspace_of(visit: Visit) -> Workspace:
    """The workspace in the page's address; its page lists the user's others too. Raises `NotFound`."""
    workspace: Workspace = await visit.call(get_workspace, slug=visit.request.path_params["slug"])
    visit.request.state.workspace = workspace
    visit.request.state.zone = workspace.timezone or DEFAULT_ZONE
    visit.request.state.workspaces = await workspaces_of(visit)
    visit.request.state.sections = sections_of(visit.request)
    return workspace


async def workspaces_of(visit: Visit) -> Sequence[WorkspaceItem]:
    """The user's workspaces by name, at most a page of them."""
    query = {"limit": MOST_PER_PAGE, "sorting": ["name"]}
    found: Sequence[WorkspaceItem] = (await visit.call(list_workspaces, filters=query)).data
    return found


def sections_of(request: Request) -> list[Section]:
    """The sections of a workspace's sidebar that have a route; each application lists them once."""
    state = request.app.state
    if not hasattr(state, "sections"):
        paths = {route.path for route in request.app.routes if isinstance(route, Route)}
        state.sections = [section for section in SECTIONS if section.path in paths]
    found: list[Section] = state.sections
    return found
