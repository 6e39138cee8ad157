"""Signed URLs of the gateway: each permits one part or one download."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from storage.objects.interface import SignedRequest, UrlRefused
from storage.sealing import Purpose, is_signed, sign

# The name that S3 uses, so that clients send the same header to every store.
CHECKSUM_HEADER = "x-amz-checksum-sha256"


@dataclass(frozen=True)
class PartClaims:
    """What a part's URL permits: one PUT of exactly this size and, if declared, this SHA-256."""

    upload_id: str
    path: str
    number: int
    size: int
    checksum_sha256_base64: str | None


@dataclass(frozen=True)
class DownloadClaims:
    """What a download URL permits: a GET of the object, answered with this name and type."""

    path: str
    file_name: str
    mime_type: str
    attachment: bool


class SignedUrls:
    """Signs and verifies URLs with HMAC-SHA256; `base_url` is the address for parts and objects.

    The signature covers the method and every query parameter, including the expiry (Unix seconds).
    """

    def __init__(self, base_url: str, secret: bytes) -> None:
        self._base_url = base_url
        self._secret = secret

    def sign_part(self, claims: PartClaims, expires_in: timedelta) -> SignedRequest:
        """A PUT; a declared checksum must be sent in `x-amz-checksum-sha256`."""
        parameters = {
            "path": claims.path,
            "upload_id": claims.upload_id,
            "part_number": str(claims.number),
            "size": str(claims.size),
        }
        headers = {}
        if claims.checksum_sha256_base64 is not None:
            parameters["checksum_sha256"] = claims.checksum_sha256_base64
            headers[CHECKSUM_HEADER] = claims.checksum_sha256_base64
        return self._sign("PUT", parameters, headers, expires_in)

    def verify_part(self, parameters: Mapping[str, str], headers: Mapping[str, str]) -> PartClaims:
        """The claims of an incoming PUT; header names are looked up in lower case. Raises `UrlRefused`."""
        signed = self._verify("PUT", parameters)
        checksum = signed.get("checksum_sha256")
        if checksum is not None and headers.get(CHECKSUM_HEADER) != checksum:
            raise UrlRefused(f"the header {CHECKSUM_HEADER} must have the signed value")
        return PartClaims(
            upload_id=signed["upload_id"],
            path=signed["path"],
            number=int(signed["part_number"]),
            size=int(signed["size"]),
            checksum_sha256_base64=checksum,
        )

    def sign_download(self, claims: DownloadClaims, expires_in: timedelta) -> SignedRequest:
        """A GET without special headers."""
        parameters = {
            "path": claims.path,
            "file_name": claims.file_name,
            "mime_type": claims.mime_type,
            "disposition": "attachment" if claims.attachment else "inline",
        }
        return self._sign("GET", parameters, {}, expires_in)

    def verify_download(self, parameters: Mapping[str, str]) -> DownloadClaims:
        """The claims of an incoming GET. Raises `UrlRefused`."""
        signed = self._verify("GET", parameters)
        return DownloadClaims(
            path=signed["path"],
            file_name=signed["file_name"],
            mime_type=signed["mime_type"],
            attachment=signed["disposition"] == "attachment",
        )

    def _sign(
        self, method: str, parameters: dict[str, str], headers: dict[str, str], expires_in: timedelta
    ) -> SignedRequest:
        expires_at = (datetime.now(UTC) + expires_in).replace(microsecond=0)
        signed = {**parameters, "expires_at": str(int(expires_at.timestamp()))}
        signature = sign(self._secret, Purpose.OBJECT_URL, method, _canonical(signed))
        query = urlencode({**signed, "signature": signature})
        return SignedRequest(f"{self._base_url}?{query}", headers, expires_at)

    def _verify(self, method: str, parameters: Mapping[str, str]) -> dict[str, str]:
        signed = dict(parameters)
        signature = signed.pop("signature", "")
        if not is_signed(self._secret, Purpose.OBJECT_URL, signature, method, _canonical(signed)):
            raise UrlRefused("the URL was not signed here, or was altered")
        # The signature is valid, so `_sign` wrote the rest and it can be parsed.
        if datetime.now(UTC).timestamp() >= int(signed["expires_at"]):
            raise UrlRefused("the URL has expired", expired=True)
        return signed


def _canonical(parameters: Mapping[str, str]) -> str:
    return urlencode(sorted(parameters.items()), errors="surrogatepass")
