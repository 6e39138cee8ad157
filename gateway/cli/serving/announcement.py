"""What a server prints once it answers."""

import shlex
from dataclasses import dataclass
from typing import Any

from gateway.cli.demo.entry import Entry
from gateway.cli.kit.output import show
from gateway.settings.settings import Settings
from gateway.web.entrance.demo import DemoEntrance
from resolvers.graph.http.endpoint import GRAPHQL_PATH
from schema.values.scalars import write_moment


@dataclass(frozen=True)
class Announcement:
    """`demo` has the credentials of the demo workspace, `entrance` the link that signs in to it."""

    origin: str
    settings: Settings
    demo: Entry | None
    entrance: DemoEntrance | None

    def show(self, *, as_json: bool) -> None:
        result: dict[str, Any] = {
            "url": self.origin,
            "base_url": self.settings.base_url,
            "graphql_url": self._graphql_url,
            "demo": None,
        }
        lines = [
            f"Duograph is running at {self.origin}: REST at {self.settings.base_url} (reference at /docs), "
            f"GraphQL at {self._graphql_url}."
        ]
        if self.demo is not None:
            result["demo"] = self._demo(self.demo)
            lines += self._demo_lines(self.demo)
        show(result, "\n".join(lines), as_json=as_json)

    def _demo(self, demo: Entry) -> dict[str, Any]:
        return {
            "workspace_token": demo.workspace_token,
            "expires_at": write_moment(demo.token_expires_at),
            "commands": self._commands(demo.workspace_token),
            "user": {"email": demo.email, "password": demo.password} if demo.password else None,
            "link": self._link,
        }

    def _demo_lines(self, demo: Entry) -> list[str]:
        lines = []
        if self._link is not None:
            lines += ["", "Open the demo, signed in; the link works once, within an hour:", self._link]
        if demo.password is not None:
            address = f"{self.settings.sign_in_url}/sign-in"
            lines += ["", f"Or sign in at {address} as {demo.email} with {demo.password}"]
        return [
            *lines,
            "",
            f"A token for the workspace demo, until {demo.token_expires_at:%Y-%m-%d}:",
            demo.workspace_token,
            "",
            "Try it:",
            *self._commands(demo.workspace_token),
        ]

    @property
    def _link(self) -> str | None:
        return None if self.entrance is None else self.origin + self.entrance.link

    @property
    def _graphql_url(self) -> str:
        return self.settings.sign_in_url + GRAPHQL_PATH

    def _commands(self, token: str) -> list[str]:
        credential = ["-H", f"Authorization: Bearer {token}"]
        query = '{"query": "{ shares(limit: 3) { data { id name prices { amountType priceAmount } } } }"}'
        body = ["-H", "Content-Type: application/json", "-d", query]
        return [
            shlex.join(["curl", "-s", f"{self.settings.base_url}/shares/?limit=3", *credential]),
            shlex.join(["curl", "-s", self._graphql_url, *credential, *body]),
        ]
