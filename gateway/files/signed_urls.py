"""`/objects`: uploads of parts and downloads, by the signed URLs of the local object store."""

from collections.abc import Awaitable, Callable

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from resolvers.files.uploads import store_failures
from resolvers.operations.bodies import announced_length
from resolvers.operations.context import Context
from rest_compat.api import render_failure
from schema.errors import Failure, Invalid, NotFound, NotPermitted, TooLarge, problem
from storage.objects.downloads import answer_download
from storage.objects.interface import ObjectMissing, ObjectStore, PartsRefused, UploadUnknown, UrlRefused
from storage.objects.local import LocalObjectStore
from storage.objects.signing import CHECKSUM_HEADER

# Any page may use a signed URL that it has; such requests carry no cookie, and none is read here.
CORS_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Content-Disposition, Content-Length, Content-Range, "
    "X-Request-ID, Retry-After",
}
PREFLIGHT_HEADERS = {
    "Access-Control-Allow-Methods": "GET, HEAD, PUT",
    "Access-Control-Allow-Headers": f"Content-Type, Range, If-Range, {CHECKSUM_HEADER}",
    "Access-Control-Max-Age": "86400",
}


def object_routes(path: str, objects: ObjectStore) -> list[Route]:
    """The routes at `path`, which need no credential but the store's signature; none for other stores."""
    if not isinstance(objects, LocalObjectStore):
        return []

    def add(method: str, answer: Callable[[Request], Awaitable[Response]]) -> Route:
        return Route(path, _across_origins(answer), methods=[method])

    return [add("PUT", put_part), add("GET", get_object), add("OPTIONS", allow_browsers)]


async def put_part(request: Request) -> Response:
    """Store the part that the URL was signed for and answer with its ETag."""
    objects = _store(request)
    try:
        claims = objects.urls.verify_part(request.query_params, request.headers)
        length = announced_length(request)
        if length > claims.size:
            raise TooLarge(f"Part {claims.number} has {claims.size} bytes; {length} were announced.")
        with store_failures():
            part = await objects.receive_part(claims, request.stream())
    except UrlRefused as refused:
        raise await _not_permitted(request, refused) from None
    except PartsRefused as refused:
        raise Invalid(
            problem(("body",), _sentence(fault.message), fault.fault) for fault in refused.problems
        ) from None
    except UploadUnknown:
        raise NotFound("This upload has been completed or dropped.") from None
    except ClientDisconnect:
        return Response(status_code=400)  # The client is gone and does not read it.
    return Response(status_code=200, headers={"ETag": part.etag})


async def get_object(request: Request) -> Response:
    """The object that the URL was signed for, or the requested range of it."""
    objects = _store(request)
    try:
        claims = objects.urls.verify_download(request.query_params)
        with store_failures():
            content = await objects.open_object(claims.path)
    except UrlRefused as refused:
        raise await _not_permitted(request, refused) from None
    except ObjectMissing:
        raise NotFound("The file has been deleted.") from None
    answer = answer_download(content, claims, request.headers)
    if request.method == "HEAD":
        return Response(status_code=answer.status, headers=answer.headers)
    return StreamingResponse(answer.chunks, answer.status, answer.headers)


async def allow_browsers(request: Request) -> Response:
    """The answer to a browser's CORS preflight request."""
    return Response(status_code=204, headers=PREFLIGHT_HEADERS)


def _across_origins(
    answer: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    async def answer_any_origin(request: Request) -> Response:
        try:
            response = await answer(request)
        except Failure as failure:
            response = await render_failure(request, failure)
        response.headers.update(CORS_HEADERS)
        return response

    return answer_any_origin


async def _not_permitted(request: Request, refused: UrlRefused) -> NotPermitted:
    """The call that issued a valid URL has paid for it; an invalid one costs the address a call."""
    ctx: Context = request.app.state.context(request)
    await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=False)
    return NotPermitted(f"{_sentence(str(refused))}.")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _store(request: Request) -> LocalObjectStore:
    objects: LocalObjectStore = request.app.state.services.objects
    return objects
