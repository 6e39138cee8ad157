"""Which operation runs, for the log lines of its statements."""

from contextvars import ContextVar

# The name of an operation or a background task; outside of operations, `document` for GraphQL and `other` for
# pages.
current_operation: ContextVar[str | None] = ContextVar("current_operation", default=None)
