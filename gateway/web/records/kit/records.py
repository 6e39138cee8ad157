"""Declarations of pages: what a kind of record shows, and what can be done with it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel

from gateway.web.kit.visits import Visit
from gateway.web.records.kit.cells import Column
from gateway.web.records.kit.fields import Field, Options, Words, fields_of
from resolvers.operations.declaration import operation_of
from schema.kit.annotations import is_list, unwrap
from schema.kit.sorting import Sorting
from schema.workspaces.workspaces import Workspace
from storage.changes.kinds import ChangeKind

Resolver = Callable[..., Awaitable[Any]]
# Reads what a field's value is chosen from; None if it is typed.
Choices = Callable[[Visit, Workspace], Awaitable[Options | None]]
# Changes the data that is sent for a record, which is none for a new one, as REST writes it.
Adjust = Callable[[dict[str, Any], Mapping[str, Any] | None], dict[str, Any]]

ALWAYS_WITHOUT = frozenset({"workspace_id", "page", "limit", "after", "sorting"})


def _as_it_is(data: dict[str, Any], _: Mapping[str, Any] | None) -> dict[str, Any]:
    return data


@dataclass(frozen=True)
class Task:
    """A form whose fields are the body of an operation, which runs when it is sent.

    `button` sends the form, and `done` is the notice afterwards. `words` and `choices` name fields with dots.
    `starts_with` are the values of a new form, and `applies` says which records have the task.
    `shows` is the secret of the result, which the next page shows once.
    """

    operation: Resolver
    button: str
    done: str
    heading: str = ""
    about: str = ""
    words: Mapping[str, Words] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    choices: Mapping[str, Choices] = field(default_factory=dict)
    adjust: Adjust = _as_it_is
    applies: Callable[[Any], bool] = lambda record: True
    starts_with: Callable[[Workspace, Any], Mapping[str, Any]] = lambda workspace, record: {}
    shows: Callable[[Any], str] | None = None
    is_danger: bool = False

    @property
    def fields(self) -> tuple[Field, ...]:
        [body] = [p.annotation for p in operation_of(self.operation).parameters if p.place == "data"]
        return fields_of(body, self.words, without=self.without | ALWAYS_WITHOUT)

    @property
    def takes_workspace(self) -> bool:
        """Whether the body names the workspace."""
        [body] = [p.annotation for p in operation_of(self.operation).parameters if p.place == "data"]
        return "workspace_id" in body.model_fields


@dataclass(frozen=True)
class Step:
    """A button that changes a record after a confirming click.

    `arguments` are those of the operation beside the id. `applies` says which records have the button.
    """

    name: str
    label: str
    about: str
    button: str
    done: str
    operation: Resolver
    arguments: Mapping[str, Any] = field(default_factory=dict)
    applies: Callable[[Any], bool] = lambda record: True
    is_harmless: bool = False
    leads_to_list: bool = False


@dataclass(frozen=True)
class Related:
    """Other records on a record's page: those that the filter `by` selects with its id."""

    path: str
    by: str
    heading: str
    can_create: bool = False
    only_if_any: bool = False

    def filter_of(self, records: "Records", record: Any) -> Any:
        """The value of the filter."""
        id = str(record.id)
        return [id] if is_list(records.query.model_fields[self.by].annotation) else id


@dataclass(frozen=True)
class Strand(Related):
    """Related records as lines of a timeline: the field with the moment of each, and what its line says."""

    at: str = ""
    says: Column = field(kw_only=True)
    amount: Column | None = None


class Parent(NamedTuple):
    """The record that others belong to: the path of its pages, the field with its id, and its title."""

    path: str
    field: str
    title: str


@dataclass(frozen=True)
class Records:
    """The pages of one kind of record.

    `picture` is the address of a record's image, or None. `timeline` are records that happened to it.
    `area` is their section of the sidebar and `path` the segment of their address. `hidden` fields are not on
    a record's page; `main_filters` are shown above the list, and the others on request. `empty` is what an
    empty list says. `measured_by` is the filter of metrics that selects what happened with a record. Records
    with a `parent` are listed on its page only. `links` are paths below a record's, and `uploads` the
    purposes of files that the list's page uploads. Changes of the kinds `live` renew the list.
    """

    area: str
    path: str
    one: str
    many: str
    about: str
    empty: str
    model: type[BaseModel]
    find: Resolver
    get: Resolver
    called: Callable[[Any], str]
    columns: tuple[Column, ...]
    facts: Mapping[str, Column] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    main_filters: tuple[str, ...] = ()
    filter_words: Mapping[str, Words] = field(default_factory=dict)
    filter_choices: Mapping[str, Choices] = field(default_factory=dict)
    without_filters: frozenset[str] = frozenset()
    create: Task | None = None
    change: Task | None = None
    tasks: Mapping[str, Task] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    related: tuple[Related, ...] = ()
    timeline: tuple[Strand, ...] = ()
    picture: Callable[[Any], str | None] = lambda record: None
    links: tuple[tuple[str, str], ...] = ()
    links_apply: Callable[[Any], bool] = lambda record: True
    live: tuple[ChangeKind, ...] = ()
    uploads: Options = ()
    parent: Parent | None = None
    measured_by: str = ""

    @property
    def query(self) -> type[BaseModel]:
        """What the list's operation can be asked for: its filters and its order."""
        query = operation_of(self.find).filters
        if query is None:
            raise TypeError(f"The list of {self.many} has no filters.")
        return query

    def filters(self) -> tuple[Field, ...]:
        """The filters of the list, the main ones first."""
        without = self.without_filters | ALWAYS_WITHOUT | {"modified_since", "modified_before"}
        found = fields_of(self.query, self.filter_words, without=without, selects=True)
        order = {name: place for place, name in enumerate(self.main_filters)}
        return tuple(sorted(found, key=lambda each: order.get(each.name, len(order))))

    def sort_keys(self) -> frozenset[str]:
        """The names that the list can be sorted by."""
        keys: type[Sorting] = get_args(unwrap(self.query.model_fields["sorting"].annotation))[0]
        return keys.names()


@dataclass(frozen=True)
class Link:
    href: str
    text: str


def back_from(records: Records, workspace: Workspace, record: Any, address: Mapping[str, str] = {}) -> Link:
    """The page above a record's: the list, or its parent's, which the address of a new one names."""
    base = f"/{workspace.slug}"
    if records.parent is None:
        return Link(f"{base}/{records.path}", records.area)
    parent = records.parent
    id = address.get(parent.field, "") if record is None else getattr(record, parent.field)
    return Link(f"{base}/{parent.path}/{id}", parent.title)
