"""Routes that the front serves, as they are declared to the application behind it."""

from collections.abc import Iterable, Iterator

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from resolvers.operations.answers import Endpoint


class FrontRoute(Route):
    """A route that the front answers, by the endpoint `served`.

    The application behind declares its path and methods, but receives only requests that the front's table
    does not match, such as a path that ends with a line break.
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
