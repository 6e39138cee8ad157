"""Resources that are sent back as they were read: fields that cannot change may repeat their values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, get_args

import orjson
from pydantic import BaseModel, TypeAdapter

from schema.errors import Location, Problem, problem
from schema.kit.annotations import unwrap

# Fields that change without a change of the resource: only the types of their values are compared.
VOLATILE = frozenset({"last_used_at", "upload"})


@dataclass(frozen=True)
class Repeated:
    """The value of a field that cannot change, at `loc` in the body.

    The field belongs to the resource, or to the item of the list `within` that has this value of `key`. With
    `volatile`, its value need not be the present one.
    """

    loc: Location
    name: str
    value: Any
    within: str | None = None
    key: tuple[str, Any] = ("", None)
    volatile: TypeAdapter[Any] | None = None

    def problems(self, current: Mapping[str, Any]) -> Iterator[Problem]:
        """The problem if the resource, as REST writes it, has another value."""
        owner: Mapping[str, Any] | None = current
        if self.within is not None:
            name, value = self.key
            items = current.get(self.within) or ()
            owner = next((item for item in items if item[name] == value), None)
        # The operation itself refuses an unknown item.
        if owner is not None and not self._holds(owner.get(self.name)):
            message = "This field cannot change: leave it out, or send the value that was read"
            yield problem(("data", *self.loc), message, "read_only", input=self.value)

    def is_stale(self, current: Mapping[str, Any]) -> bool:
        """Whether this is the `modified_at` of the resource as it was before its last change."""
        if self.within is not None or self.name != "modified_at":
            return False
        present = current[self.name]
        if self.value is None:
            return present is not None
        try:
            return datetime.fromisoformat(self.value) < datetime.fromisoformat(present)
        except (TypeError, ValueError):
            return False

    def _holds(self, current: Any) -> bool:
        if self.volatile is None:
            return _is_same(self.value, current)
        try:
            self.volatile.validate_json(orjson.dumps(self.value), strict=True)
        except ValueError:
            return False
        return True


def _is_same(sent: Any, current: Any) -> bool:
    """Whether both are the same JSON: in Python, 1 equals true."""
    if isinstance(sent, dict) and isinstance(current, dict):
        return sent.keys() == current.keys() and all(_is_same(sent[key], current[key]) for key in sent)
    if isinstance(sent, list) and isinstance(current, list):
        return len(sent) == len(current) and all(map(_is_same, sent, current))
    return isinstance(sent, bool) == isinstance(current, bool) and bool(sent == current)


@cache
def _type_of(model: type[BaseModel], name: str) -> TypeAdapter[Any] | None:
    """The type of a field whose value may have changed since it was read."""
    kind: Any = model.model_fields[name].annotation
    return TypeAdapter(kind) if name in VOLATILE else None


def without_repeated(
    sent: Mapping[str, Any],
    update: type[BaseModel],
    resource: type[BaseModel],
    keys: Mapping[str, str],
) -> tuple[dict[str, Any], list[Repeated]]:
    """The body without the fields that only the resource has, and these fields.

    `keys` names the field that identifies an item in each list of the resource that the update replaces. An
    item is reduced to the fields of its input, or to its id if the update has only ids.
    """
    read_only = resource.model_fields.keys() - update.model_fields.keys()
    kept = {name: value for name, value in sent.items() if name not in read_only}
    repeated = [
        Repeated((name,), name, sent[name], volatile=_type_of(resource, name))
        for name in sent
        if name in read_only
    ]
    for name, key in keys.items():
        if isinstance(kept.get(name), list):
            written, read = _item_of(update, name), _item_of(resource, name)
            items = [_item(entry, written, read, key) for entry in kept[name]]
            kept[name] = [item for item, _ in items]
            for index, (entry, (_, names)) in enumerate(zip(sent[name], items, strict=True)):
                repeated += [
                    Repeated(
                        (name, index, each), each, entry[each], name, (key, entry[key]), _type_of(read, each)
                    )
                    for each in names
                ]
    return kept, repeated


def _item_of(model: type[BaseModel], name: str) -> Any:
    return unwrap(get_args(unwrap(model.model_fields[name].annotation))[0])


def _item(sent: Any, written: Any, read: type[BaseModel], key: str) -> tuple[Any, list[str]]:
    """The item as the update takes it, and the names of its fields that cannot change.

    An item that is none of the resource's as it was read stays as it is, to be validated.
    """
    if not isinstance(sent, dict) or sent.get(key) is None or not sent.keys() <= read.model_fields.keys():
        return sent, []
    if not (isinstance(written, type) and issubclass(written, BaseModel)):
        return sent[key], [name for name in sent if name != key]
    names = [name for name in sent if name not in written.model_fields]
    return {name: value for name, value in sent.items() if name not in names}, names
