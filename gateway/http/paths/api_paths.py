"""Which paths are the API's. Whole segments count: `/api-shop/portal` is a page of a workspace."""

from resolvers.graph.http.endpoint import GRAPHQL_PATH
from rest_compat.routing.paths import PREFIX

_ROOTS = frozenset({PREFIX, GRAPHQL_PATH})
_BELOW = tuple(f"{root}/" for root in _ROOTS)


def is_api(path: str) -> bool:
    """Whether the path is REST's or GraphQL's."""
    return path.startswith(_BELOW) or path in _ROOTS


def is_graphql(path: str) -> bool:
    return path == GRAPHQL_PATH or path.startswith(f"{GRAPHQL_PATH}/")
