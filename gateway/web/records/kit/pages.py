"""The pages of one record: what it is, the forms that change it, and the buttons that end it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.calls import call_of
from gateway.web.kit.forms import Form
from gateway.web.kit.visits import Visit, page
from gateway.web.kit.workspaces import workspace_of
from gateway.web.records.kit.activity import activity_of, timeline_of
from gateway.web.records.kit.cells import NOTHING, Shown, facts_of
from gateway.web.records.kit.choices import uploaded_policy
from gateway.web.records.kit.exports import export_list
from gateway.web.records.kit.figures import lifetime_of
from gateway.web.records.kit.lists import Heading, Table, show_list, table_of
from gateway.web.records.kit.names import names_in
from gateway.web.records.kit.records import Records, Related, Step, Task, back_from
from gateway.web.records.kit.tasks import TaskForm
from schema.errors import Invalid, NotFound, PreconditionFailed
from schema.workspaces.workspaces import Workspace

FEW = 5
# Somebody else may save again while an edit is merged with what they saved before.
MOST_MERGES = 3
HIDDEN = frozenset({"workspace_id"})
# Facts below the others, which a click shows, as what is not set is.
FOLDED = frozenset({"id", "modified_at", "metadata"})


@dataclass(frozen=True)
class RecordPages:
    """The pages of `records`; `every` has those of all kinds by their path."""

    records: Records
    every: Mapping[str, Records]

    def routes(self) -> list[Route]:
        records = self.records
        path = f"/{{slug}}/{records.path}"
        one = f"{path}/{{id}}"
        routes = []
        if records.parent is None:
            routes += [Route(path, page(self.show_list)), Route(f"{path}/csv", page(self.export_list))]
        if records.create is not None:
            routes += self._form(f"{path}/new", records.create)
        if records.change is not None:
            routes += self._form(f"{one}/edit", records.change)
        for name, task in records.tasks.items():
            routes += self._form(f"{one}/{name}", task)
        routes += [
            Route(f"{one}/{step.name}", page(self._taking(step)), methods=["POST"]) for step in records.steps
        ]
        return [*routes, Route(one, page(self.show))]

    def _form(self, path: str, task: Task) -> list[Route]:
        async def show(visit: Visit) -> Response:
            return await self._show_form(visit, task)

        async def take(visit: Visit) -> Response:
            return await self._take_form(visit, task)

        return [Route(path, page(show)), Route(path, page(take), methods=["POST"])]

    async def show_list(self, visit: Visit) -> Response:
        return await show_list(visit, self.records)

    async def export_list(self, visit: Visit) -> Response:
        return await export_list(visit, self.records)

    async def show(self, visit: Visit) -> Response:
        workspace = await workspace_of(visit)
        return await self._show(visit, workspace, await self._record(visit, workspace))

    def _taking(self, step: Step) -> Any:
        async def take(visit: Visit) -> Response:
            await visit.form()
            workspace = await workspace_of(visit)
            record = await self._record(visit, workspace)
            try:
                await visit.call(step.operation, id=str(record.id), **step.arguments)
            except Invalid as invalid:
                return await self._show(visit, workspace, record, refused=invalid)
            return visit.redirect(self._after(workspace, record, step.leads_to_list), step.done)

        return take

    async def _show_form(self, visit: Visit, task: Task) -> Response:
        workspace = await workspace_of(visit)
        record = await self._record(visit, workspace) if "id" in visit.request.path_params else None
        form = TaskForm(visit, workspace, self.records, task, record)
        return await form.show(form.fresh())

    async def _take_form(self, visit: Visit, task: Task) -> Response:
        sent = await visit.form()
        workspace = await workspace_of(visit)
        record = await self._record(visit, workspace) if "id" in visit.request.path_params else None
        form = TaskForm(visit, workspace, self.records, task, record)
        if sent.raw("add"):
            # A form always has an empty row after those that were sent.
            return await form.show(sent)
        for _ in range(MOST_MERGES):
            try:
                made = await form.run(sent)
                break
            except Invalid as invalid:
                return await form.show(form.refused(invalid), 422)
            except PreconditionFailed:
                sent = form.merged(sent, await self._record(visit, workspace))
                if form.merge and form.merge.disputed:
                    return await form.show_conflict(sent)
        else:
            return await form.show_conflict(sent)
        if task.shows is not None:
            return await form.show_once(made)
        return visit.redirect(self._after(workspace, made if record is None else record, False), form.done)

    def _after(self, workspace: Workspace, record: Any, leads_to_list: bool) -> str:
        """The page after a change: the record's, its parent's or the list."""
        base = f"/{workspace.slug}"
        if self.records.parent is not None:
            parent = self.records.parent
            return f"{base}/{parent.path}/{getattr(record, parent.field)}"
        return f"{base}/{self.records.path}" + ("" if leads_to_list else f"/{record.id}")

    async def _record(self, visit: Visit, workspace: Workspace) -> Any:
        """The record in the page's address. Raises `NotFound`."""
        lost = NotFound(f"There is no such {self.records.one}.")
        try:
            record = await visit.call(self.records.get, id=visit.request.path_params["id"])
            owner = record
            if self.records.parent is not None:
                parent = self.records.parent
                owner = await visit.call(self.every[parent.path].get, id=str(getattr(record, parent.field)))
        except Invalid:
            raise lost from None
        if owner.workspace_id != workspace.id:
            raise lost
        return record

    async def _show(
        self, visit: Visit, workspace: Workspace, record: Any, refused: Invalid | None = None
    ) -> Response:
        records, shown = self.records, Shown(f"/{workspace.slug}")
        shown.names.update(await names_in(visit, [record]))
        columns = facts_of(records.model, records.facts, records.hidden | HIDDEN)
        title = records.called(record)
        facts = [(column.name, (column.title, column.cell(record, shown))) for column in columns]
        # The name stands above them, and what is not set is folded.
        facts = [fact for fact in facts if fact[0] != "name" or fact[1][1].value != title]
        folded = [name in FOLDED or cell == NOTHING for name, (_, cell) in facts]
        form = (
            Form({})
            if refused is None
            else Form({}).refused(Invalid([{**entry, "loc": []} for entry in refused.problems]))
        )
        return visit.render(
            "record.html",
            status_code=200 if refused is None else 422,
            policy=uploaded_policy([[cell for _, (_, cell) in facts]]),
            workspace=workspace,
            records=records,
            record=record,
            base=shown.base,
            back=back_from(records, workspace, record),
            form=form,
            facts=[fact for (_, fact), is_folded in zip(facts, folded, strict=True) if not is_folded],
            folded=[fact for (_, fact), is_folded in zip(facts, folded, strict=True) if is_folded],
            activity=await activity_of(visit, workspace, records.measured_by, record)
            if records.measured_by
            else None,
            lifetime=await lifetime_of(visit, workspace, records.measured_by, record)
            if records.measured_by
            else [],
            timeline=await timeline_of(visit, workspace, self.every, records.timeline, record)
            if records.timeline
            else None,
            tasks={name: task for name, task in records.tasks.items() if task.applies(record)},
            steps=[step for step in records.steps if step.applies(record)],
            related=[await self._related(visit, workspace, record, each) for each in records.related],
            call=call_of(visit, records.get, id=str(record.id)),
        )

    async def _related(
        self, visit: Visit, workspace: Workspace, record: Any, related: Related
    ) -> dict[str, Any]:
        """The first of the related records, with how many there are."""
        records, shown = self.every[related.path], Shown(f"/{workspace.slug}")
        columns = [column for column in records.columns if column.name != related.by]
        limit = 100 if records.parent else FEW
        listing = await visit.call(
            records.find, filters={related.by: related.filter_of(records, record), "limit": limit}
        )
        rows = await table_of(visit, records, listing.data, shown, columns)
        return {
            "related": related,
            "records": records,
            "total": listing.meta.total,
            "table": Table([Heading(column.title) for column in columns], rows),
            "can_create": related.can_create
            and records.create is not None
            and records.create.applies(record),
        }


def routes_of(every: Sequence[Records]) -> list[Route]:
    by_path = {records.path: records for records in every}
    return [route for records in every for route in RecordPages(records, by_path).routes()]
