"""How connections to PostgreSQL are used, without what opens them: settings import this."""

from dataclasses import dataclass

# Our statements are short: compiling one, or starting processes for it, would take longer than running it.
PLAIN_PLANS = {"jit": "off", "max_parallel_workers_per_gather": "0"}


@dataclass(frozen=True)
class Terms:
    """How connections to PostgreSQL are used; SQLite has no need of this.

    `pooled`: they lead to a pooler in transaction mode, so nothing may outlive a transaction on the server.
    A statement may run for `statement_seconds` and wait for a lock for `lock_seconds`, 0 for no limit. A
    connection is replaced after `life_seconds`. `name` is what the server's list of connections calls them.
    """

    pooled: bool = False
    statement_seconds: int = 0
    lock_seconds: int = 0
    life_seconds: int = 3600
    name: str = "duograph"

    @property
    def limits(self) -> dict[str, str]:
        """PostgreSQL's settings for the limits."""
        return {"statement_timeout": f"{self.statement_seconds}s", "lock_timeout": f"{self.lock_seconds}s"}

    @property
    def beginning(self) -> str:
        """What follows BEGIN in each transaction: a pooler refuses settings when a connection starts."""
        if not self.pooled:
            return ""
        settings = {**PLAIN_PLANS, **self.limits}
        return "".join(f"; SET LOCAL {name} = '{value}'" for name, value in settings.items())
