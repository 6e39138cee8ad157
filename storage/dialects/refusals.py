"""The error of a SQLite database that refuses changes, whoever makes them."""


class ChangesRefused(Exception):
    """A trigger of the database refused a change; the message says why, and callers may see it."""
