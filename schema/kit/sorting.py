"""Sort keys of lists: each key is declared once, and its descending twin follows."""

from enum import EnumType, StrEnum
from typing import Any

import strawberry

_DESCRIPTION = "A sort key. The prefix `-` in REST and the suffix `_DESC` in GraphQL mean descending order."


class _WithTwins(EnumType):
    """Gives a class two members for each of its `keys`, like `NAME = "name"` and `NAME_DESC = "-name"`."""

    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...], **options: Any) -> Any:  # type: ignore[override]
        members = super().__prepare__(name, bases, **options)
        for key in options.get("keys", ()):
            members[key.upper()] = key
            members[f"{key.upper()}_DESC"] = f"-{key}"
        return members


class Sorting(StrEnum, metaclass=_WithTwins):
    """The base of an enum of sort keys, which becomes a GraphQL enum."""

    def __init_subclass__(cls, keys: tuple[str, ...]) -> None:
        cls.__doc__ = _DESCRIPTION
        strawberry.enum(cls, description=_DESCRIPTION)

    @classmethod
    def names(cls) -> frozenset[str]:
        """The names of the keys, without a direction."""
        return frozenset(key.removeprefix("-") for key in cls)


class CreatedAtSorting(Sorting, keys=("created_at",)): ...


class ResourceSorting(Sorting, keys=("created_at", "modified_at")): ...
