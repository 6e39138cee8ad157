"""`/api/file-share-downloads/`."""

from resolvers.file_shares import downloads as file_share_downloads
from rest_compat.routing.router import Router

router = Router("/file-share-downloads", "File-share downloads", "Downloads of file-share sessions.")
router.get("/", file_share_downloads.list_file_share_downloads)
router.get("/{id}", file_share_downloads.get_file_share_download)
