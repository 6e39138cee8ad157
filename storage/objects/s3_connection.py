"""The connection to S3 or a compatible service: address, credentials, clients and the meaning of failures."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import structlog
from aiobotocore.config import AioConfig
from aiobotocore.session import get_session
from botocore.exceptions import BotoCoreError, ClientError

from storage.objects.interface import ObjectMissing, StoreError, StoreUnavailable, UploadUnknown

ATTEMPTS = 2
CONNECT_SECONDS = 5
# S3 may take minutes to join parts, but sends bytes every few seconds meanwhile.
READ_SECONDS = 60
CONNECTIONS = 50

log = structlog.get_logger()


@dataclass(frozen=True)
class Bucket:
    """A bucket and how to reach it.

    Without an `endpoint`, the bucket is on AWS. `public_endpoint` is the address for callers, if theirs is
    another. Without keys, the SDK looks for credentials in its variables, its files and the machine's role.
    """

    name: str
    endpoint: str | None = None
    public_endpoint: str | None = None
    region: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = field(default=None, repr=False)


class _Clients(NamedTuple):
    own: Any
    public: Any


class S3Connection:
    """A client that sends requests and one that signs requests for callers, made when first needed."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._clients: _Clients | None = None
        self._lock = asyncio.Lock()
        self._open_clients = AsyncExitStack()

    async def client(self) -> Any:
        """The client for our own requests."""
        return (await self._both()).own

    async def signer(self) -> Any:
        """The client that signs requests for callers."""
        return (await self._both()).public

    async def close(self) -> None:
        self._clients = None
        await self._open_clients.aclose()

    async def _both(self) -> _Clients:
        async with self._lock:
            if self._clients is None:
                own = await self._make(self._bucket.endpoint)
                public = self._bucket.public_endpoint
                self._clients = _Clients(own, await self._make(public) if public else own)
            return self._clients

    async def _make(self, endpoint: str | None) -> Any:
        config = AioConfig(
            signature_version="s3v4",
            # AWS requires the bucket in the host name; other services may not resolve such names.
            s3={"addressing_style": "path" if endpoint else "virtual"},
            # Only checksums that callers declare; the SDK would add its own.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            max_pool_connections=CONNECTIONS,
        )
        client = get_session().create_client(
            "s3",
            endpoint_url=endpoint,
            region_name=self._bucket.region,
            aws_access_key_id=self._bucket.access_key_id,
            aws_secret_access_key=self._bucket.secret_access_key,
            config=config,
        )
        return await self._open_clients.enter_async_context(client)


@contextmanager
def s3_failures(path: str = "") -> Iterator[None]:
    """Turns the SDK's exceptions into those of the interface.

    Callers see at most the service's error code. The rest may repeat paths, so it is not even logged.
    """
    try:
        yield
    except ClientError as error:
        raise _store_error(error, path) from error
    except (BotoCoreError, OSError) as error:
        log.warning("the object store failed", reason=type(error).__name__)
        raise StoreUnavailable("the object store does not respond") from error


def _store_error(error: ClientError, path: str) -> StoreError:
    code = error.response.get("Error", {}).get("Code", "")
    if code == "NoSuchUpload":
        return UploadUnknown()
    if code in {"NoSuchKey", "404"}:  # an answer to HEAD has no body with a code
        return ObjectMissing(path)
    log.warning("the object store refused", code=code, operation=error.operation_name)
    return StoreUnavailable(f"the object store refused: {code}")
