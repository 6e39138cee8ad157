"""Something that speaks S3 on a real socket, for the tests: moto's server."""

from datetime import UTC, datetime
from typing import Any

import boto3
from moto.s3.responses import S3Response
from moto.server import ThreadedMotoServer

from tests.support.servers.ports import own_port

HOST = "127.0.0.1"
KEYS = {"aws_access_key_id": "a key of the tests", "aws_secret_access_key": "a secret of the tests"}


_list_uploads = S3Response.list_multipart_uploads


def _list_uploads_as_begun_now(response: S3Response) -> Any:
    """It says of every upload that it was begun in 2010, and a gateway drops old ones without a file."""
    status, headers, body = _list_uploads(response)
    return status, headers, body.replace("2010-11-10T20:48:33.000Z", datetime.now(UTC).isoformat())


S3Response.list_multipart_uploads = _list_uploads_as_begun_now


class S3Server:
    """It checks neither signatures, expiry nor checksums. What it keeps outlives its being stopped."""

    def __init__(self) -> None:
        # No other process gets this port while the server is stopped.
        self.port = own_port()
        self.start_again()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def stop(self) -> None:
        self._server.stop()

    def start_again(self) -> None:
        """At the same port."""
        self._server = ThreadedMotoServer(HOST, self.port, verbose=False)
        self._server.start()

    def settings(self, bucket: str) -> dict[str, Any]:
        """A gateway's settings for a new bucket."""
        boto3.client("s3", endpoint_url=self.url, region_name="us-east-1", **KEYS).create_bucket(
            Bucket=bucket
        )
        return {
            "object_store": f"s3://{bucket}",
            "s3_endpoint": self.url,
            "s3_region": "us-east-1",
            "s3_access_key_id": KEYS["aws_access_key_id"],
            "s3_secret_access_key": KEYS["aws_secret_access_key"],
        }
