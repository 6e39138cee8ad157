"""Descriptions and reasons of deprecations in GraphQL's spelling: declarations have REST's names."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from graphql import GraphQLEnumType, GraphQLSchema, get_named_type
from strawberry.utils.str_converters import to_camel_case

# A word in backticks that has nothing beside it: scopes such as `shares:read` and prefixes are no names.
_WORD = re.compile(r"`(-?[a-z][a-z0-9_]*)`")


def spell_descriptions(schema: GraphQLSchema) -> None:
    """Write the names of fields and the values of enumerations as documents do, also in reasons."""
    described = list(_described(schema))
    fields = {name for name, _, _ in described}
    members: dict[str, str] = {}
    for type_ in schema.type_map.values():
        members.update(_members_of(type_))
    for _, place, own in described:
        if place.description:
            place.description = spelled_text(place.description, fields, members, own)
        if reason := getattr(place, "deprecation_reason", None):
            place.deprecation_reason = spelled_text(reason, fields, members, own)


def spelled_text(text: str, fields: set[str], members: Mapping[str, str], own: Mapping[str, str]) -> str:
    """The text with its names spelled; a word that is a value of the place's `own` type stands for it."""

    def spell(match: re.Match[str]) -> str:
        word = match[1]
        if word in own:
            return f"`{own[word]}`"
        if to_camel_case(word) in fields:
            return f"`{to_camel_case(word)}`"
        return f"`{members[word]}`" if "_" in word and word in members else match[0]

    return _WORD.sub(spell, text)


def _described(schema: GraphQLSchema) -> Iterator[tuple[str, Any, Mapping[str, str]]]:
    """The name of everything that has a description, and the values of its type."""
    for type_ in schema.type_map.values():
        if type_.name.startswith("__"):
            continue
        yield type_.name, type_, _members_of(type_)
        for name, field in getattr(type_, "fields", {}).items():
            yield name, field, _members_of(get_named_type(field.type))
            for argument, declared in getattr(field, "args", {}).items():
                yield argument, declared, _members_of(get_named_type(declared.type))
        for name, value in getattr(type_, "values", {}).items():
            yield name, value, _members_of(type_)


def _members_of(type_: Any) -> dict[str, str]:
    """The names of an enumeration's values by the texts that REST has for them."""
    if not isinstance(type_, GraphQLEnumType):
        return {}
    return {str(getattr(item.value, "value", item.value)): name for name, item in type_.values.items()}
