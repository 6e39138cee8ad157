"""The configured object store, and the background tasks that clean it up."""

from datetime import timedelta
from functools import partial

from gateway.background.tasks import BackgroundTask
from gateway.settings.settings import Settings
from gateway.settings.values.types import S3_SCHEME
from resolvers.files.clean_up import drop_abandoned_uploads, drop_lost_uploads, remove_discarded_content
from resolvers.operations.context import Services
from storage.objects.interface import ObjectStore
from storage.objects.local import LocalObjectStore

OBJECTS_PATH = "/objects"

HOUR, DAY = 3600, 24 * 3600


def make_object_store(settings: Settings, secret: bytes) -> ObjectStore:
    """A store that is not connected yet; `secret` signs the URLs of a local one."""
    if (directory := settings.object_directory) is not None:
        return LocalObjectStore(directory, settings.sign_in_url + OBJECTS_PATH, secret)
    # The SDK takes 40 MiB of memory in every process, so only those that need it import it.
    from storage.objects.s3 import S3ObjectStore  # noqa: PLC0415
    from storage.objects.s3_connection import Bucket  # noqa: PLC0415

    key = settings.s3_secret_access_key
    return S3ObjectStore(
        Bucket(
            name=settings.object_store.removeprefix(S3_SCHEME),
            endpoint=settings.s3_endpoint,
            public_endpoint=settings.s3_public_endpoint,
            region=settings.s3_region,
            access_key_id=settings.s3_access_key_id,
            secret_access_key=None if key is None else key.get_secret_value(),
        )
    )


def storage_tasks(services: Services, upload_life: timedelta) -> list[BackgroundTask]:
    """Drop uploads that were never completed, and remove the content of deleted files."""
    return [
        BackgroundTask("abandoned uploads", partial(drop_abandoned_uploads, services, upload_life), HOUR),
        BackgroundTask("discarded content", partial(remove_discarded_content, services), HOUR),
        BackgroundTask("lost uploads", partial(drop_lost_uploads, services, upload_life), DAY),
    ]
