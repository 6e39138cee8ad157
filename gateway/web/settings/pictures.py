"""The choice of a workspace's picture: none, the current one, or an image that was uploaded for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.web.kit.forms import Form
from gateway.web.kit.visits import Visit
from gateway.web.records.kit.cells import Cell
from gateway.web.records.kit.choices import uploaded_policy
from gateway.web.records.kit.uploads import upload_origin
from gateway.web.words.portal import is_web
from resolvers.files.files import list_files
from schema.workspaces.workspaces import Workspace
from storage.enums import FileService

FIELD = "avatar_url"
MOST_OFFERED = 12


@dataclass(frozen=True)
class Picture:
    """A picture that the form offers, by its address."""

    url: str
    name: str
    is_chosen: bool


async def pictures_for(visit: Visit, workspace: Workspace, form: Form) -> list[Picture]:
    """The latest uploaded pictures, after the chosen one if that is from elsewhere."""
    chosen = form.text(FIELD)
    query = {
        "workspace_id": [str(workspace.id)],
        "service": FileService.WORKSPACE_AVATAR.value,
        "limit": MOST_OFFERED,
    }
    uploaded = {
        file.public_url: file.name
        for file in (await visit.call(list_files, filters=query)).data
        if file.is_uploaded and file.public_url
    }
    names = uploaded if chosen in uploaded or not is_web(chosen) else {chosen: "Current picture", **uploaded}
    return [Picture(url, name, url == chosen) for url, name in names.items()]


async def picture_policy(visit: Visit, pictures: Sequence[Picture]) -> str | None:
    """The policy of a page that shows the pictures and uploads others."""
    return uploaded_policy([[Cell("image", picture.url) for picture in pictures]], await upload_origin(visit))
