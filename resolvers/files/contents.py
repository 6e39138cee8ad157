"""What the content of a file has to be, once the store has joined its parts: an image, and no malware."""

import structlog

from resolvers.operations.context import Context
from resolvers.operations.security_events import note_malware
from schema.errors import Invalid, Unavailable, problem
from storage.enums import FileService
from storage.objects.images import HEAD_BYTES, begins_as
from storage.objects.scanning import Scanner, ScannerUnavailable, TooLargeToScan
from storage.tables.shares.files import FileRow

IMAGE_SERVICES = frozenset({FileService.PRODUCT_MEDIA, FileService.WORKSPACE_AVATAR})
RETRY_AFTER_SECONDS = 5

log = structlog.get_logger()


async def check_content(ctx: Context, file: FileRow) -> None:
    """Raises `Invalid`, and the content is gone, or `Unavailable`, and it can be checked again."""
    if file.service in IMAGE_SERVICES:
        await _check_image(ctx, file)
    if ctx.services.scanner is not None:
        await _scan(ctx, ctx.services.scanner, file)


async def _check_image(ctx: Context, file: FileRow) -> None:
    head = await ctx.services.objects.read_start(file.path, HEAD_BYTES)
    if not begins_as(file.mime_type, head):
        await ctx.services.objects.delete(file.path)
        message = f"The content is not {file.mime_type} as declared: delete the file and make it again"
        raise Invalid([problem(("data", "parts"), message, "mime_type")])


async def _scan(ctx: Context, scanner: Scanner, file: FileRow) -> None:
    """Nothing is downloaded before this: the file is not complete yet."""
    content = await ctx.services.objects.open_object(file.path)
    try:
        malware = await scanner.scan(content.read())
    except ScannerUnavailable as error:
        log.warning("a file could not be scanned", file=str(file.id), reason=str(error))
        message = "Files cannot be scanned for malware just now: repeat the completion in a moment."
        raise Unavailable(message, {"Retry-After": str(RETRY_AFTER_SECONDS)}) from error
    except TooLargeToScan:
        await ctx.services.objects.delete(file.path)
        message = "The file is larger than the scanner for malware takes: delete it"
        raise Invalid([problem(("data", "parts"), message, "unscannable")]) from None
    if malware is not None:
        note_malware(ctx.caller, file.workspace_id, file.id)
        await ctx.services.objects.delete(file.path)
        message = f"The scanner has recognized malware in this file ({malware}): delete it"
        raise Invalid([problem(("data", "parts"), message, "malware")])
