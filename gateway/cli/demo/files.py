"""The images and downloads of the demo's shares, and the purchases that give access to them."""

import io
import math
import wave
import zipfile
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from random import Random
from typing import Any, NamedTuple

from gateway.cli.demo.drawings import DAY, DUSK, FOLDER, NIGHT, SCENES, Scene, drawn
from gateway.cli.kit.as_user import perform
from resolvers.customers.customers import list_customers
from resolvers.file_shares.payments import record_payment
from resolvers.file_shares.sessions import create_file_share_session
from resolvers.files.files import complete_file_upload, create_file
from resolvers.operations.context import Context
from resolvers.shares.shares import list_shares, update_share
from schema.files.files import File
from schema.shares.shares import Share
from schema.values.scalars import write_moment
from storage.clock import now
from storage.enums import FileService
from storage.objects.local import LocalObjectStore
from storage.objects.signing import PartClaims

README = "Made for you by Harbour Prints. Print it, share it with friends, and enjoy the coast.\n"
HOURS = {"day": Scene(DAY), "dusk": DUSK, "night": NIGHT}
SAMPLES_PER_SECOND, SECONDS = 8_000, 20
# Days ago, the share, the price in cents, and whether it was paid.
PURCHASES: Mapping[str, tuple[tuple[int, str, int, bool], ...]] = {
    "mina@example.com": ((3, "Lighthouse poster", 2500, True), (9, "Wallpapers of the tides", 0, False)),
    "jonas@example.com": ((1, "Lighthouse poster", 2500, False),),
    "office@studio.example.com": ((5, "Sea sounds", 800, True),),
}


class Content(NamedTuple):
    """A file to upload."""

    name: str
    mime_type: str
    content: bytes


async def add_files(ctx: Context) -> None:
    """Upload the images and downloads of the demo's shares. Stores other than directories get none.

    `ctx` is that of the workspace.
    """
    if not isinstance(ctx.services.objects, LocalObjectStore):
        return
    contents = _contents()
    # Shares have some of their downloads in common, which are chosen from one list.
    kept: dict[Content, File] = {}
    for share in (await _shares(ctx)).values():
        image, downloads = contents[share.name]
        media = await _upload(ctx, FileService.PRODUCT_MEDIA, image)
        for each in downloads:
            if each not in kept:
                kept[each] = await _upload(ctx, FileService.DOWNLOADABLE, each)
        data = {"medias": [str(media.id)], "downloads": [str(kept[each].id) for each in downloads]}
        await perform(ctx, update_share, id=share.id, data=data)


async def add_purchases(ctx: Context) -> None:
    """Sell shares to the demo's customers, so that their portals have something to download."""
    shares = await _shares(ctx)
    for email, purchases in PURCHASES.items():
        (customer,) = (await perform(ctx, list_customers, filters={"email": email})).data
        for days, name, price, is_paid in purchases:
            share, created_at = shares[name], now() - timedelta(days=days)
            session = {
                "share_id": str(share.id),
                "customer_id": str(customer.id),
                "price_amount": price,
                "file_size_bytes": sum(file.size for file in share.downloads),
                "created_at": write_moment(created_at),
            }
            sold = await perform(ctx, create_file_share_session, data=session)
            if is_paid:
                paid_at = write_moment(created_at + timedelta(minutes=2))
                payment = {"amount": price, "currency": "usd", "at": paid_at}
                await perform(ctx, record_payment, id=sold.id, data=payment)


async def _shares(ctx: Context) -> dict[str, Share]:
    return {share.name: share for share in (await perform(ctx, list_shares, filters={"limit": 100})).data}


def _contents() -> dict[str, tuple[Content, list[Content]]]:
    """The image and the downloads of each share, by its name."""
    lighthouse, tides, sounds = (_image(name) for name in ("lighthouse", "tides", "sounds"))
    readme = Content("Read me.txt", "text/plain", README.encode())
    poster = lighthouse._replace(name="Lighthouse poster.svg")
    wallpapers = Content("Wallpapers of the tides.zip", "application/zip", _archive())
    own = {
        "Lighthouse poster": (lighthouse, [poster, readme]),
        "Wallpapers of the tides": (tides, [wallpapers]),
        "Sea sounds": (sounds, [Content("Sea sounds.wav", "audio/wav", _waves())]),
    }
    scenes = {name: Content(f"{name}.svg", "image/svg+xml", drawn(scene)) for name, scene in SCENES.items()}
    return own | {name: (picture, [picture, readme]) for name, picture in scenes.items()}


def _image(name: str) -> Content:
    return Content(f"{name}.svg", "image/svg+xml", (FOLDER / f"{name}.svg").read_bytes())


def _archive() -> bytes:
    """The picture at every hour."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for hour, scene in HOURS.items():
            archive.writestr(f"Tides by {hour}.svg", drawn(scene))
    return stream.getvalue()


def _waves() -> bytes:
    """Noise that swells and ebbs like waves on a beach, as WAV."""
    random, level, samples = Random(SECONDS), 0.0, bytearray()  # noqa: S311
    for place in range(SAMPLES_PER_SECOND * SECONDS):
        level += 0.12 * (random.uniform(-1, 1) - level)
        swell = 0.5 - 0.5 * math.cos(2 * math.pi * place / SAMPLES_PER_SECOND / 5)
        samples.append(128 + int(level * swell * 120))
    stream = io.BytesIO()
    with wave.open(stream, "wb") as sound:
        sound.setparams((1, 1, SAMPLES_PER_SECOND, 0, "NONE", "not compressed"))
        sound.writeframes(bytes(samples))
    return stream.getvalue()


async def _upload(ctx: Context, service: FileService, file: Content) -> File:
    """Upload a file as callers do; its one part goes straight to the store, as no gateway is running."""
    size = len(file.content)
    part = {"number": 1, "chunk_start": 0, "chunk_end": size}
    data: dict[str, Any] = {
        "service": service.value,
        "name": file.name,
        "mime_type": file.mime_type,
        "size": size,
    }
    data |= {"upload": {"parts": [part]}}
    begun = await perform(ctx, create_file, data=data)
    claims = PartClaims(begun.upload.id, begun.path, 1, size, None)
    stored = await ctx.services.objects.receive_part(claims, _once(file.content))  # type: ignore[attr-defined]
    done = {"number": 1, "checksum_etag": stored.etag, "checksum_sha256_base64": None}
    upload = {"id": begun.upload.id, "path": begun.path, "parts": [done]}
    completed: File = await perform(ctx, complete_file_upload, id=begun.id, data=upload)
    return completed


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
