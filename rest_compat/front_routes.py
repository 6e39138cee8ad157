"""Routes that the front serves, as they are declared to the application behind it."""

from collections.abc import Iterable, Iterator

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from resolvers.operations.answers import Endpoint


class FrontRoute(Route):
    """A route whose requests `served` answers in the front.

    The application behind the front knows the path and its methods, but gets only requests that no template
    fits, such as one whose path ends with a line break.
    """

    def __init__(self, path: str, served: Endpoint, methods: tuple[str, ...] = ("GET",)) -> None:
        async def lost(_: Request) -> Response:
            raise HTTPException(404)

        super().__init__(path, lost, methods=methods)
        self.served = served


def front_endpoints(routes: Iterable[BaseRoute]) -> Iterator[tuple[str, str, Endpoint]]:
    """The method, the path and the endpoint of each route that the front serves."""
    for route in routes:
        if isinstance(route, FrontRoute):
            for method in route.methods or ():
                yield method, route.path, route.served
