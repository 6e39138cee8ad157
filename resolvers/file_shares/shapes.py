"""The shapes of file-share sessions, payments and refunds."""

from resolvers.operations.shapes import Shape
from schema.file_share_sessions import FileShareSession
from storage.rows import table_of
from storage.tables.file_share_sessions import FileShareSessionRow

SESSION = Shape(FileShareSession, table_of(FileShareSessionRow))
