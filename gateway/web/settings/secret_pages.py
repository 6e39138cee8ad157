"""Pages of what a workspace has with a secret: it is made, changed and deleted, and gets another secret."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.forms import Form
from gateway.web.kit.visits import Visit, page
from gateway.web.kit.workspaces import workspace_of
from gateway.web.records.kit.merging import OPENED
from gateway.web.settings.merging import merged, opened
from schema.errors import Invalid, NotFound

Operation = Callable[..., Any]


@dataclass(frozen=True)
class SecretPages:
    """The pages of one kind, by its operations.

    `shown` takes the resource and the secret from an answer that shows one. `new` and `changed` make the
    bodies of forms, and `filled` the form of a body, with lists in the order of the page. `show_list` takes
    the form for another one and a status; `show_one` takes the resource, the form if it was refused, a status
    and the secret. `told` says that it is deleted.
    """

    noun: str
    shown: Callable[[Any], tuple[Any, str | None]]
    create: Operation
    find: Operation
    update: Operation
    rotate_secret: Operation
    remove: Operation
    empty: Form
    new: Callable[[Form], dict[str, Any]]
    changed: Callable[[Form], dict[str, Any]]
    filled: Callable[[Mapping[str, Any]], Form]
    fields: Sequence[str]
    saved: str
    told: Callable[[Any], str]
    show_list: Callable[[Visit, Form, int], Awaitable[Response]]
    show_one: Callable[..., Awaitable[Response]]

    def routes(self, path: str) -> list[Route]:
        one = f"{path}/{{id}}"
        return [
            Route(path, page(self.list_all)),
            Route(path, page(self.make), methods=["POST"]),
            Route(one, page(self.read)),
            Route(one, page(self.change), methods=["POST"]),
            Route(f"{one}/rotate", page(self.rotate), methods=["POST"]),
            Route(f"{one}/delete", page(self.delete), methods=["POST"]),
        ]

    async def list_all(self, visit: Visit) -> Response:
        return await self.show_list(visit, self.empty, 200)

    async def make(self, visit: Visit) -> Response:
        """Make one and show its page with the secret; the same form shows the same page again."""
        form = await visit.form()
        workspace = await workspace_of(visit)
        data = {**self.new(form), "workspace_id": str(workspace.id)}
        try:
            made = await visit.call(self.create, key=form.raw("once"), data=data)
        except Invalid as invalid:
            return await self.show_list(visit, form.refused(invalid), 422)
        return await self._show_secret(visit, made)

    async def read(self, visit: Visit) -> Response:
        return await self.show_one(visit, await self.resource_of(visit))

    async def change(self, visit: Visit) -> Response:
        form = await visit.form()
        resource = await self.resource_of(visit)
        sent = self.filled(self.changed(form))
        sent = Form({**sent.values, OPENED: form.all(OPENED)})
        settings = merged(sent, self._saved(resource), self.fields)
        if settings.form.problems:
            return await self.show_one(visit, resource, settings.form, 409)
        data = self.changed(settings.form)
        try:
            await visit.call(
                self.update, id=resource.id, data={name: data[name] for name in settings.changed}
            )
        except Invalid as invalid:
            return await self.show_one(visit, resource, settings.form.refused(invalid), 422)
        return visit.redirect(visit.request.url.path, self.saved)

    def opened(self, resource: Any) -> Form:
        """The form that changes the resource."""
        return opened(self._saved(resource))

    def _saved(self, resource: Any) -> Form:
        return self.filled({name: getattr(resource, name) for name in self.fields})

    async def rotate(self, visit: Visit) -> Response:
        form = await visit.form()
        resource = await self.resource_of(visit)
        made = await visit.call(self.rotate_secret, key=form.raw("once"), id=resource.id)
        return await self._show_secret(visit, made)

    async def delete(self, visit: Visit) -> Response:
        await visit.form()
        resource = await self.resource_of(visit)
        await visit.call(self.remove, id=resource.id)
        return visit.redirect(visit.request.url.path.rsplit("/", 2)[0], self.told(resource))

    async def resource_of(self, visit: Visit) -> Any:
        """The resource in the page's address. Raises `NotFound`."""
        workspace = await workspace_of(visit)
        resource = await visit.call(self.find, id=visit.request.path_params["id"])
        if resource.workspace_id != workspace.id:
            raise NotFound(f"There is no such {self.noun}.")
        return resource

    async def _show_secret(self, visit: Visit, made: Any) -> Response:
        resource, secret = self.shown(made)
        return await self.show_one(visit, resource, status_code=201, secret=secret)
