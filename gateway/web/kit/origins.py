"""Whether a browser's request comes from our own pages, so that its cookie counts."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers

FETCH_SITE = "sec-fetch-site"


def origin_of(url: str) -> str:
    """`https://host:port`, as browsers write it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def is_same_origin(headers: Headers, scheme: str, own_origin: str) -> bool:
    """What the browser says itself; an older one, and any where there is no https, says only `Origin`.

    That may be the configured origin, or the one that the request was sent to.
    """
    said = headers.get(FETCH_SITE)
    if said is not None:
        return said == "same-origin"
    return headers.get("origin", "").lower() in {own_origin, f"{scheme}://{headers.get('host', '')}".lower()}


def is_from_elsewhere(headers: Headers) -> bool:
    """Whether the browser says that another site's page made the request."""
    return headers.get(FETCH_SITE) in ("cross-site", "same-site")
