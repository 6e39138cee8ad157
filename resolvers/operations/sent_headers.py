"""A header of a request, without the objects that Starlette would make for it."""

from starlette.requests import Request


def sent_header(request: Request, name: bytes) -> str | None:
    """The first value of the header with this name in lower case; None if it was not sent."""
    for sent, value in request.scope["headers"]:
        if sent == name:
            text: str = value.decode("latin-1")
            return text
    return None
