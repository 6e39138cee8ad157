"""Images are recognised by their first bytes."""

import pytest

from storage.objects.images import HEAD_BYTES, IMAGE_TYPES, begins_as, is_image_type
from storage.objects.interface import ObjectMissing
from tests.storage.uploads import PATH, uploaded

HEADS = {
    "image/avif": b"\x00\x00\x00\x20ftypavif\x00\x00\x00\x00avifmif1",
    "image/bmp": b"BM\x46\x00\x00\x00",
    "image/gif": b"GIF89a\x01\x00",
    "image/heic": b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00",
    "image/jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "image/png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR",
    "image/svg+xml": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "image/tiff": b"II*\x00\x08\x00\x00\x00",
    "image/webp": b"RIFF\x24\x00\x00\x00WEBPVP8 ",
    "image/x-icon": b"\x00\x00\x01\x00\x01\x00",
}


@pytest.mark.parametrize("mime_type", IMAGE_TYPES)
def test_each_type_is_known_by_its_own_head_and_by_no_others(mime_type):
    assert {name for name in IMAGE_TYPES if begins_as(mime_type, HEADS[name])} == {mime_type}
    assert not begins_as(mime_type, b"")
    assert not begins_as(mime_type, b"<!DOCTYPE html><html><body><svg></svg>")


@pytest.mark.parametrize(
    "head",
    [
        b"\xef\xbb\xbf<svg>",
        b" \r\n<svg\n width='1'>",
        b"<?xml version='1.0'?><!-- <html> --><svg>",
        b"<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' [ <!ENTITY a '>'> ]>\n<svg/>",
    ],
)
def test_an_svg_may_begin_with_a_prolog(head):
    assert begins_as("image/svg+xml", head)


def test_a_prolog_that_never_ends_takes_no_time():
    for filler in (b"<!--", b"<?", b"<!DOCTYPE", b"\n ", b"<!DOCTYPE a[]"):
        head = (filler * HEAD_BYTES)[:HEAD_BYTES]
        assert not begins_as("image/svg+xml", head)


def test_a_type_is_known_in_any_case():
    assert is_image_type("Image/PNG")
    assert begins_as("Image/PNG", HEADS["image/png"])
    assert not is_image_type("image/x-unknown")
    assert not is_image_type("text/html")


async def test_the_start_of_an_object_can_be_read(store):
    await uploaded(store, b"0123456789")
    assert await store.read_start(PATH, 4) == b"0123"
    assert await store.read_start(PATH, 400) == b"0123456789"
    with pytest.raises(ObjectMissing):
        await store.read_start(PATH + "x", 4)
