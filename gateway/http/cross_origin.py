"""Answers to pages on other origins (CORS): which paths they may use, and which headers they see."""

from collections.abc import Collection

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from gateway.http.paths.api_paths import is_api
from resolvers.graph.contract import SCHEMA_PATH
from rest_compat.routing.paths import OPENAPI_PATH, ROOT_OPENAPI_PATH

# The metadata and keys of the OpenID provider.
_WELL_KNOWN = "/.well-known/"
_CONTRACTS = frozenset({OPENAPI_PATH, ROOT_OPENAPI_PATH, SCHEMA_PATH})
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
# Besides those that browsers always show.
_SHOWN_HEADERS = (
    *("ETag", "Location", "X-Request-ID", "Idempotency-Replayed", "Retry-After", "WWW-Authenticate"),
    *("RateLimit", "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"),
    *("RateLimit-Cost", "Deprecation", "Sunset"),
)
# Browsers keep an answer about a path no longer than this.
_PREFLIGHT_SECONDS = 7200


def cross_origin(application: ASGIApp, origins: Collection[str]) -> CORSMiddleware:
    """The application for pages on these origins, or on any with `*`.

    Their requests never carry cookies. They may send any header.
    """
    return CORSMiddleware(
        application,
        allow_origins=origins,
        allow_methods=_METHODS,
        allow_headers=("*",),
        # Browsers ask before a public page reads from a gateway on a local network; no cookie is ever sent.
        allow_private_network=True,
        expose_headers=_SHOWN_HEADERS,
        max_age=_PREFLIGHT_SECONDS,
    )


def is_shared(path: str) -> bool:
    """Whether pages on other origins may use the path: the API, its contracts, what OAuth clients read."""
    return is_api(path) or path in _CONTRACTS or path.startswith(_WELL_KNOWN)


def is_cached_publicly(path: str) -> bool:
    """Whether caches keep answers for others, so that each has to say that it depends on the origin."""
    return path in _CONTRACTS or path.startswith(_WELL_KNOWN)
