"""Downloads in file-share sessions."""

from schema.base import graphql_type
from schema.file_share_reports import FileShareReport, FileShareReportQuery
from schema.pages import Page


@graphql_type
class FileShareDownload(FileShareReport):
    """A download in a file-share session."""


FileShareDownloadPage = Page[FileShareDownload]


class FileShareDownloadQuery(FileShareReportQuery):
    """The arguments of the list of downloads."""
