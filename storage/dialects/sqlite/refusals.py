"""The error of a SQLite database that refuses changes, whoever makes them."""

from storage.operator_errors import OperatorError


class ChangesRefused(OperatorError):
    """A trigger of the database refused a change; the message says why, and callers may see it."""
