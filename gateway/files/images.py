"""`/media`: the images of shares and the avatars of workspaces, which are public."""

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from resolvers.files.files import find_public_file
from resolvers.files.shapes import MEDIA_PATH
from resolvers.files.uploads import store_failures
from resolvers.operations.context import Context
from resolvers.operations.http.etags import matches_weakly
from schema.errors import NotFound
from storage.objects.downloads import answer_download
from storage.objects.interface import ObjectMissing
from storage.objects.signing import DownloadClaims

# The path holds the file's id, and the content of a file never changes.
CACHE_CONTROL = "public, max-age=31536000, immutable"


def media_routes() -> list[Route]:
    return [Route(MEDIA_PATH + "/{path:path}", get_media, methods=["GET"])]


async def get_media(request: Request) -> Response:
    """An uploaded image; 304 if the caller has it. An SVG cannot run scripts (see `answer_download`)."""
    ctx: Context = request.app.state.context(request)
    try:
        file = await find_public_file(ctx, request.path_params["path"])
    except NotFound:
        # Images are free of charge; guesses at their addresses are not.
        await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=False)
        raise
    etag = file.checksum_etag or ""
    headers = {"ETag": etag, "Cache-Control": CACHE_CONTROL}
    if matches_weakly(request.headers.get("if-none-match", ""), etag):
        return Response(status_code=304, headers=headers)
    try:
        with store_failures():
            content = await ctx.services.objects.open_object(file.path)
    except ObjectMissing:
        raise NotFound("There is no such public file.") from None
    claims = DownloadClaims(file.path, file.name, file.mime_type, attachment=False)
    answer = answer_download(content, claims, {})
    shown = {**answer.headers, "etag": etag, "cache-control": CACHE_CONTROL}
    del shown["accept-ranges"]
    if request.method == "HEAD":
        return Response(status_code=answer.status, headers=shown)
    return StreamingResponse(answer.chunks, answer.status, shown)
