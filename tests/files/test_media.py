"""Images that anyone may see."""

from uuid import uuid4

import pytest

from tests.support.tenants.uploads import PNG, new_file, put_parts, upload_file, upload_image

SVG = b'<?xml version="1.0"?>\n<!-- a logo -->\n<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'


@pytest.mark.parametrize("service", ["product_media", "workspace_avatar"])
async def test_anyone_can_see_an_uploaded_image_and_keep_it(rest, service):
    file = await upload_image(rest, service=service, name="über 100% #1?.png")
    assert file["public_url"].startswith(f"http://gateway/media/{service}/")
    answer = await rest.client.get(file["public_url"])

    assert (answer.status_code, answer.content) == (200, PNG)
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"].startswith("inline;")
    assert answer.headers["etag"] == file["checksum_etag"]
    kept = await rest.client.get(file["public_url"], headers={"If-None-Match": answer.headers["etag"]})
    assert (kept.status_code, kept.content) == (304, b"")
    looked = await rest.client.head(file["public_url"])
    assert (looked.status_code, looked.content) == (200, b"")
    assert looked.headers["content-length"] == str(len(PNG))


async def test_an_svg_is_shown_but_can_run_nothing(rest):
    file = await upload_file(rest, SVG, service="product_media", name="logo.svg", mime_type="image/svg+xml")
    answer = await rest.client.get(file["public_url"])
    assert (answer.content, answer.headers["content-type"]) == (SVG, "image/svg+xml")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert "allow-scripts" not in policy


async def test_what_is_not_public_or_not_uploaded_is_not_shown(rest, tenant):
    private = await upload_file(rest)
    image = {"service": "product_media", "mime_type": "image/png"}
    unfinished = await rest.create_file(data=new_file(PNG, **image))
    await put_parts(rest, unfinished["upload"], PNG)
    shown = await upload_image(rest)
    renamed = shown["path"].replace("cover.png", "other.png")
    elsewhere = shown["path"].replace(tenant.id, str(uuid4()))
    climbing = shown["path"].replace("product_media/", "product_media/%2e%2e/product_media/")
    paths = [private["path"], unfinished["path"], renamed, elsewhere, climbing, "", "a/b/c/d", "x"]
    for path in paths:
        answer = await rest.client.get(f"/media/{path}")
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found"), path
