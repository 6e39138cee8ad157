"""Each surface describes itself with its own names: snake case in REST, camel case in GraphQL."""

import re

from graphql import print_schema

from oauth.scopes import Scope
from resolvers.graph.root import make_schema
from rest_compat.openapi.document import openapi_document

_QUOTED = re.compile(r"`([^`\n]*)`")
_SNAKE = re.compile(r"-?[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_CAMEL = re.compile(r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+")
# A name alone, or with a value beside it, like `group_by: share` and `limit=10`.
_NAME = re.compile(rf"({_SNAKE.pattern})(?:[:=] ?\w+)?")
# Words that are the same for both surfaces: the codes of errors, and names inside tokens and claims.
_SHARED = {"email_verified", "invalid_code", "dg_ci_"}


def test_graphql_has_no_names_of_rest_in_its_descriptions():
    text = print_schema(make_schema()._schema)
    scopes = {scope.value for scope in Scope}
    names = {
        match[1] for word in _QUOTED.findall(text) if word not in scopes and (match := _NAME.fullmatch(word))
    }
    assert sorted(names - _SHARED) == []


def test_rest_has_no_names_of_graphql_in_its_descriptions():
    found = set()

    def look(value, place):
        if isinstance(value, dict):
            for key, item in value.items():
                look(item, f"{place}.{key}")
        elif isinstance(value, list):
            for index, item in enumerate(value):
                look(item, f"{place}.{index}")
        elif isinstance(value, str) and place.endswith((".description", ".summary")):
            found.update((word, place) for word in _QUOTED.findall(value) if _CAMEL.fullmatch(word))

    look(openapi_document(), "openapi")
    assert sorted(found) == []
