"""`/api/files/`."""

from resolvers.files import files
from rest_compat.routing.router import Router

router = Router("/files", "Files", "Uploads in parts by signed URLs, and downloads.")
router.post("/", files.create_file)
router.get("/", files.list_files)
router.get("/{id}", files.get_file)
router.post("/{id}/uploaded", files.complete_file_upload, status=200)
router.get("/{id}/download", files.get_file_download)
router.delete("/{id}", files.delete_file)
