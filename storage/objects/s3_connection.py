"""How S3, or what speaks it, is reached: its address and credentials, clients, and what its failures mean."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from aiobotocore.config import AioConfig
from aiobotocore.session import get_session
from botocore.exceptions import BotoCoreError, ClientError

from storage.objects.interface import ObjectMissing, StoreError, StoreUnavailable, UploadUnknown

ATTEMPTS = 2
CONNECT_SECONDS = 5
# S3 may take minutes to join parts, but sends something now and then while it does.
READ_SECONDS = 60
CONNECTIONS = 50

log = structlog.get_logger()


@dataclass(frozen=True)
class Bucket:
    """A bucket and the way to it.

    Without an `endpoint` it is AWS's. `public_endpoint` is the callers' way, where it is another one. Without
    keys the SDK looks for credentials: its variables, its files, the role of the machine.
    """

    name: str
    endpoint: str | None = None
    public_endpoint: str | None = None
    region: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = field(default=None, repr=False)


class S3Connection:
    """One client that sends requests and one that only signs them for callers, made when first needed."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._clients: tuple[Any, Any] | None = None
        self._making = asyncio.Lock()
        self._opened = AsyncExitStack()

    async def client(self) -> Any:
        """For our own requests."""
        return (await self._made())[0]

    async def signer(self) -> Any:
        """For requests that callers send."""
        return (await self._made())[1]

    async def close(self) -> None:
        self._clients = None
        await self._opened.aclose()

    async def _made(self) -> tuple[Any, Any]:
        async with self._making:
            if self._clients is None:
                own = await self._make(self._bucket.endpoint)
                public = self._bucket.public_endpoint
                self._clients = (own, await self._make(public) if public else own)
            return self._clients

    async def _make(self, endpoint: str | None) -> Any:
        config = AioConfig(
            signature_version="s3v4",
            # AWS wants the bucket in the host; others may have no name for each bucket.
            s3={"addressing_style": "path" if endpoint else "virtual"},
            # The checksums are those that callers declare, none that the SDK would add.
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
        return await self._opened.enter_async_context(client)


@contextmanager
def s3_failures(path: str = "") -> Iterator[None]:
    """Turns the SDK's exceptions into those of the interface.

    A caller is told the service's code at most; not even the log has the rest, which may repeat paths.
    """
    try:
        yield
    except ClientError as error:
        raise _meaning(error, path) from error
    except (BotoCoreError, OSError) as error:
        log.warning("the object store failed", reason=type(error).__name__)
        raise StoreUnavailable("the object store does not answer") from error


def _meaning(error: ClientError, path: str) -> StoreError:
    code = error.response.get("Error", {}).get("Code", "")
    if code == "NoSuchUpload":
        return UploadUnknown()
    if code in {"NoSuchKey", "404"}:  # the latter where an answer to HEAD has no body to say more
        return ObjectMissing(path)
    log.warning("the object store refused", code=code, operation=error.operation_name)
    return StoreUnavailable(f"the object store refused: {code}")
