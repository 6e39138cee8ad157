"""Settings of uploaded files: where they are stored, and how large they may be."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, SecretStr, ValidationInfo, field_validator

from gateway.settings.values.types import S3_SCHEME, ClamdUrl, ObjectPlace, WebAddress


class FileSettings(BaseModel):
    """Files"""

    object_store: Annotated[
        ObjectPlace,
        Field(
            description="Where uploaded files are stored: a directory that all hosts share, or `s3://BUCKET` "
            "for S3 or a compatible store."
        ),
    ] = "var/objects"
    s3_endpoint: Annotated[
        WebAddress | None, Field(description="The address of an S3-compatible store: `https://HOST`.")
    ] = None
    s3_public_endpoint: Annotated[
        WebAddress | None,
        Field(description="The store's address for callers, if it differs from the gateway's."),
    ] = None
    s3_region: Annotated[
        str | None,
        Field(description="The bucket's region; if not set, `AWS_DEFAULT_REGION` or `us-east-1`."),
    ] = None
    s3_access_key_id: Annotated[
        str | None,
        Field(
            description="With its secret, the credential for S3; if not set, AWS's own variables, files and "
            "roles apply."
        ),
    ] = None
    s3_secret_access_key: Annotated[
        SecretStr | None,
        Field(description="The secret of `DUOGRAPH_S3_ACCESS_KEY_ID`.", validate_default=True),
    ] = None
    upload_days: Annotated[
        int, Field(ge=1, le=365, description="Days after which an incomplete upload is deleted, 1 to 365.")
    ] = 7
    max_size_downloadable: Annotated[
        int, Field(ge=1, description="The largest file of the service `downloadable`, in bytes.")
    ] = 5 * 1024**3
    max_size_product_media: Annotated[
        int, Field(ge=1, description="The largest file of the service `product_media`, in bytes.")
    ] = 10 * 1024**2
    max_size_workspace_avatar: Annotated[
        int, Field(ge=1, description="The largest file of the service `workspace_avatar`, in bytes.")
    ] = 1024**2
    download_minutes: Annotated[
        int,
        Field(
            ge=1,
            le=1440,
            description="Minutes for which a customer's link to a file works, 1 to 1,440; a download that "
            "has begun goes on.",
        ),
    ] = 10
    clamd_url: Annotated[
        ClamdUrl | None,
        Field(
            description="ClamAV's daemon, `tcp://HOST:3310` or `unix:///PATH`, which scans each upload "
            "before it is complete. Its `StreamMaxLength` has to fit the largest file. If not set, "
            "nothing is scanned."
        ),
    ] = None
    storage_quota: Annotated[
        int,
        Field(ge=0, description="Bytes a workspace may store, incomplete uploads included; 0 for no limit."),
    ] = 100 * 1024**3
    open_upload_quota: Annotated[
        int, Field(ge=0, description="Incomplete uploads that a workspace may have; 0 for no limit.")
    ] = 500

    @field_validator("s3_secret_access_key")
    @classmethod
    def _check_pair(cls, key: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if (key is None) != (info.data.get("s3_access_key_id") is None):
            raise ValueError("it goes with DUOGRAPH_S3_ACCESS_KEY_ID: set both or neither")
        return key

    @property
    def object_directory(self) -> Path | None:
        """The directory of the local object store; None for S3."""
        return None if self.object_store.startswith(S3_SCHEME) else Path(self.object_store)
