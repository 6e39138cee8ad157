"""Downloads in file-share sessions."""

from schema.file_shares.reports import FileShareReport, FileShareReportQuery
from schema.kit.base import graphql_type
from schema.kit.pages import Page


@graphql_type
class FileShareDownload(FileShareReport):
    """A download in a file-share session."""


FileShareDownloadPage = Page[FileShareDownload]


class FileShareDownloadQuery(FileShareReportQuery):
    """The arguments of the list of downloads."""
