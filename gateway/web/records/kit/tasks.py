"""The page of a form that runs an operation, and what becomes of a sent one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from gateway.web.kit.amounts import AmountRefused, read_amount
from gateway.web.kit.calls import Call, call_of
from gateway.web.kit.forms import Form
from gateway.web.kit.visits import Visit
from gateway.web.records.kit.choices import chosen_fields, uploaded_policy
from gateway.web.records.kit.fields import Field
from gateway.web.records.kit.merging import OPENED, Merge, merge, of_field, opened_with
from gateway.web.records.kit.records import Link, Records, Task, back_from
from gateway.web.records.kit.uploads import files_for, upload_origin
from gateway.web.records.kit.values import Reading, Texts, filled, placed, read, rows_in
from resolvers.operations.declaration import Operation, operation_of
from resolvers.operations.shapes.shaped import ShapedRow
from schema.errors import Invalid, Problem
from schema.values.prose import write_amount
from schema.workspaces.workspaces import Workspace
from storage.enums import Currency

ETAG = "etag"
_NUMBER_OF_ROW = re.compile(r"\.[0-9]+\.")
# The kinds of fields whose value the address of a new form can have.
SIMPLE = frozenset({"hidden", "text", "area", "email", "url", "choice", "date"})


@dataclass
class TaskForm:
    """A visit's form of a task; `record` is what it changes, None if it creates something.

    `reading` is that of the form sent last, and `merge` what it made with a change that came between.
    """

    visit: Visit
    workspace: Workspace
    records: Records
    task: Task
    record: Any
    reading: Reading | None = None
    merge: Merge[Field] | None = None

    @property
    def is_change(self) -> bool:
        """Whether the form shows the record's own fields."""
        return self.task is self.records.change

    def fresh(self) -> Form:
        """The form with the record's values, or those that a new one starts with, also from the address."""
        query = self.visit.request.query_params
        if self.record is not None and self.is_change:
            return self._as_opened(self._texts_of(self.record), self.record)
        simple = {each.name for each in self.task.fields if each.kind in SIMPLE}
        addressed = {name: query[name] for name in query if name in simple}
        started = {**self.task.starts_with(self.workspace, self.record), **addressed}
        fields = [each for each in self.task.fields if each.name in started]
        return Form(filled(fields, started, currency=self.currency))

    async def run(self, form: Form) -> Any:
        """What the operation returns. Raises `Invalid`, or `PreconditionFailed` if the record has changed."""
        task = self.task
        self.reading = read(form, task.fields, self.currency)
        operation = operation_of(task.operation)
        takes_id = any(parameter.name == "id" for parameter in operation.parameters)
        id = {"id": str(self.record.id)} if self.record is not None and takes_id else {}
        arguments: dict[str, Any] = {**id, "data": self.reading.data}
        problems = [*self.reading.problems]
        try:
            arguments["data"] = self._data(self.reading.data)
        except Invalid as refused:
            problems += refused.problems
        if problems:
            raise Invalid([*problems, *_besides(problems, operation, arguments)])
        return await self.visit.call(
            task.operation,
            key=form.raw("once"),
            if_match=form.raw(ETAG) if self.is_change else None,
            **arguments,
        )

    def refused(self, invalid: Invalid) -> Form:
        """The sent form with its problems."""
        return self._kept().refused(placed(invalid, self.task.fields, self._read))

    def merged(self, sent: Form, current: Any) -> Form:
        """The sent form with what somebody else has saved meanwhile, but for what both changed."""
        theirs = self._texts_of(current)
        self.record, self.merge = current, merge(sent, self.task.fields, self._read.texts, theirs)
        form = self._as_opened(self.merge.texts, current, theirs)
        return Form({**form.values, "once": sent.all("once")})

    async def show_conflict(self, form: Form) -> Response:
        """The merged form, beside what both changed."""
        if self.merge is None:
            raise RuntimeError("No form was merged.")
        theirs = self._texts_of(self.record)
        disputed = {each.name for each in self.merge.disputed}
        differences = [
            (each.label, self._words(self.merge.texts, each), self._words(theirs, each))
            for each in await self._fields()
            if each.name in disputed
        ]
        return await self.show(form, 412, differences=differences, kept=self._kept_words())

    @property
    def done(self) -> str:
        """What the next page says, with what somebody else had changed."""
        kept = self._kept_words()
        return self.task.done + (
            f" Changes that someone else made in the meantime were kept: {kept}." if kept else ""
        )

    def _kept_words(self) -> str:
        labels = [] if self.merge is None else [each.label for each in self.merge.theirs]
        return " and ".join(filter(None, [", ".join(labels[:-1]), *labels[-1:]]))

    def _as_opened(self, texts: Texts, record: Any, opened: Texts | None = None) -> Form:
        return Form({**texts, ETAG: [record.etag_text()], **opened_with(texts if opened is None else opened)})

    async def show(self, form: Form, status_code: int = 200, **values: Any) -> Response:
        fields = await self._fields()
        files = await files_for(self.visit, self.workspace, fields, form)
        images = [[file.cell for file in offered] for offered in files.values()]
        origins = [await upload_origin(self.visit)] if files else []
        return self.visit.render(
            "record_form.html",
            status_code=status_code,
            policy=uploaded_policy(images, *origins),
            workspace=self.workspace,
            records=self.records,
            task=self.task,
            record=self.record,
            base=f"/{self.workspace.slug}",
            form=form,
            fields_shown=fields,
            rows_in=rows_in,
            currency=self.currency,
            back=self.back,
            files=files,
            call=self._call(form),
            **{"differences": None, "kept": "", **values},
        )

    async def show_once(self, made: Any) -> Response:
        """What the operation made, which no other page shows."""
        if self.task.shows is None:
            raise RuntimeError("The task has nothing to show.")
        return self.visit.render(
            "record_secret.html",
            status_code=201,
            workspace=self.workspace,
            records=self.records,
            record=self.record,
            base=f"/{self.workspace.slug}",
            task=self.task,
            back=self.back,
            secret=self.task.shows(made),
        )

    @property
    def back(self) -> Link:
        """The page that the form was opened from."""
        if self.record is None or self.records.parent is not None:
            return back_from(self.records, self.workspace, self.record, self._address())
        path = f"/{self.workspace.slug}/{self.records.path}/{self.record.id}"
        return Link(path, self.records.called(self.record))

    def _address(self) -> dict[str, str]:
        """The parameters of the address, or the fields that were sent in their place."""
        sent: Form | None = getattr(self.visit.request.state, "form", None)
        own = {} if sent is None else {name: sent.raw(name) for name in sent.values}
        return {**own, **self.visit.request.query_params}

    @property
    def currency(self) -> str:
        """The currency of amounts without one of their own."""
        own: Currency | None = getattr(self.record, "currency", None)
        return str((own or self.workspace.default_presentment_currency).value)

    async def _fields(self) -> tuple[Field, ...]:
        return await chosen_fields(self.visit, self.workspace, self.task.fields, self.task.choices)

    @property
    def _read(self) -> Reading:
        """What the form says that was sent last."""
        if self.reading is None:
            raise RuntimeError("No form was sent.")
        return self.reading

    def _kept(self) -> Form:
        sent = self.visit.request.state.form
        kept: Texts = {name: sent.all(name) for name in (ETAG, OPENED) if sent.all(name)}
        return Form(self._read.texts | kept)

    def _texts_of(self, record: Any) -> Texts:
        return filled(self.task.fields, written(record))

    def _words(self, texts: Texts, each: Field) -> str:
        """What a form has of a field, as people read it."""
        parts = dict(_parts_by_name(each, ""))
        shown = []
        for name, values in of_field(texts, each).items():
            part = parts.get(_NUMBER_OF_ROW.sub(".", name), each)
            currency = texts.get(name.removesuffix(part.name) + part.currency, [""])[0] or self.currency
            shown += [_word(value, part, currency) for value in values if value]
        if each.kind == "files":
            return f"{len(shown)} {'file' if len(shown) == 1 else 'files'}"
        if each.kind == "checkbox":
            return "Yes" if shown else "No"
        return " · ".join(shown) or "Nothing"

    def _data(self, data: dict[str, Any]) -> dict[str, Any]:
        data = self.task.adjust(data, None if self.record is None else written(self.record))
        return data | ({"workspace_id": str(self.workspace.id)} if self.task.takes_workspace else {})

    def _call(self, form: Form) -> Call | None:
        """The call that sends the form as it is; none for one whose values the operation would not know."""
        reading = self.reading or read(form, self.task.fields, self.currency)
        operation = operation_of(self.task.operation)
        arguments: dict[str, Any] = {}
        if self.record is not None and any(each.name == "id" for each in operation.parameters):
            arguments["id"] = str(self.record.id)
        try:
            arguments["data"] = self._data(dict(reading.data))
            return call_of(self.visit, self.task.operation, **arguments)
        except (Invalid, LookupError, StopIteration, TypeError, AttributeError):
            return None


def _besides(
    problems: Sequence[Problem], operation: Operation, arguments: Mapping[str, Any]
) -> Iterator[Problem]:
    """What the operation would refuse too, at other places: a form tells all its problems at once."""
    try:
        operation.validate(arguments)
    except Invalid as refused:
        told = [tuple(map(str, each["loc"])) for each in problems]
        for each in refused.problems:
            loc = tuple(map(str, each["loc"]))
            # What could not be read is missing, for the operation, or spoils what it is a part of.
            if not any(loc[: len(place)] == place or place[: len(loc)] == loc for place in told):
                yield each


def written(record: Any) -> dict[str, Any]:
    """The record as REST writes it."""
    found: dict[str, Any] = (
        record.written() if isinstance(record, ShapedRow) else record.model_dump(mode="json")
    )
    return found


def _parts_by_name(each: Field, place: str) -> Iterator[tuple[str, Field]]:
    """A field and those inside it, by their names in a form without the numbers of rows."""
    yield place + each.name, each
    for part in each.parts:
        yield from _parts_by_name(part, f"{place}{each.name}.")


def _word(value: str, each: Field, currency: str) -> str:
    if each.kind == "money":
        with suppress(AmountRefused):
            return write_amount(read_amount(value, currency), currency)
    if each.kind == "checkbox":
        return each.label
    return dict(each.options).get(value, value)
