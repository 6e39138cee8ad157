"""Whether a browser's request comes from our own pages, so that its cookie is accepted."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers

FETCH_SITE = "sec-fetch-site"


def origin_of(url: str) -> str:
    """`https://host:port`, as browsers write it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def is_same_origin(headers: Headers, scheme: str, own_origin: str) -> bool:
    """Read from `Sec-Fetch-Site`; older browsers, and all without https, send only `Origin`.

    That must be the configured origin or the one that the request was sent to.
    """
    site = headers.get(FETCH_SITE)
    if site is not None:
        return site == "same-origin"
    return headers.get("origin", "").lower() in {own_origin, f"{scheme}://{headers.get('host', '')}".lower()}


def is_from_elsewhere(headers: Headers) -> bool:
    """Whether the browser says that another site's page made the request."""
    return headers.get(FETCH_SITE) in ("cross-site", "same-site")
