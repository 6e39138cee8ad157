"""What `duograph webhooks` does: it follows the feed, or makes a change, by the API as any client does."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from secrets import token_bytes
from time import sleep
from typing import Any

import httpx
import orjson
import typer
from standardwebhooks import Webhook

from gateway.cli.administration.triggers import TRIGGERS
from gateway.cli.kit.output import CommandError
from resolvers.webhooks.secrets import PREFIX, SECRET_BYTES

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS = 10.0
# Statuses of what a later request may not meet.
_PASSING = (429, 502, 503, 504)


class Away(CommandError):
    """The gateway cannot be reached, or cannot answer now."""


class Api:
    """Calls a gateway with a token. Raises `CommandError` with the message of a refusal."""

    def __init__(self, gateway: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._client = httpx.Client(base_url=f"{gateway.rstrip('/')}/api", headers=headers, timeout=30)
        self.workspace_id: str | None = None

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        try:
            answer = self._client.request(method, path, json=body, params=query)
        except httpx.HTTPError as error:
            raise Away(f"The gateway does not answer: {error}.") from None
        if answer.status_code in _PASSING:
            raise Away(f"The gateway cannot answer now ({answer.status_code}): {_reason_of(answer)}")
        if answer.is_error:
            raise CommandError(f"The gateway refused it ({answer.status_code}): {_reason_of(answer)}")
        return answer.json() if answer.content else None

    def make(self, path: str, body: Mapping[str, Any]) -> Any:
        """Create something in the workspace."""
        own = {} if self.workspace_id is None else {"workspace_id": self.workspace_id}
        return self.ask("POST", path, {**body, **own})

    def choose(self, slug: str | None) -> None:
        """Work in the workspace with this slug. Raises `CommandError` if the token does not reach it."""
        if slug is not None:
            found = [
                each for each in self.ask("GET", "/workspaces/", slug=slug)["data"] if each["slug"] == slug
            ]
            if not found:
                raise CommandError(f"The token reaches no workspace {slug}.")
            self.workspace_id = found[0]["id"]


def listen(
    gateway: str,
    token: str,
    forward: str,
    *,
    kinds: Sequence[str],
    workspace: str | None,
    secret: str | None,
) -> None:
    """Send each change from now on to `forward`, until the command is interrupted.

    A gateway that is started again meanwhile is waited for, and nothing is missed.
    """
    api = Api(gateway, token)
    api.choose(workspace)
    secret = secret or PREFIX + b64encode(token_bytes(SECRET_BYTES)).decode()
    try:
        signer = Webhook(secret)
    except (RuntimeError, ValueError):
        raise CommandError("--secret should be like whsec_ and base64.", status=2) from None
    own = {} if api.workspace_id is None else {"workspace_id": api.workspace_id}
    position = api.ask("GET", "/changes/latest", **own)["position"]
    typer.echo(f"Signing with {secret}\nSending to {forward}; Ctrl-C ends it.")
    query = {**own, **({"kind": list(kinds)} if kinds else {}), "limit": 100}
    with httpx.Client(timeout=SECONDS) as receiver:
        while True:
            page = _next_page(api, {**query, "after": position})
            for change in page["data"]:
                typer.echo(f"{change['kind']}  {_send(receiver, forward, signer, change)}")
            position = page["meta"]["next_cursor"]
            if not page["meta"]["has_more"]:
                sleep(SECONDS_BETWEEN_LOOKS)


def _next_page(api: Api, query: Mapping[str, Any]) -> Any:
    """The next page of the feed, as soon as the gateway answers."""
    is_away = False
    while True:
        try:
            page = api.ask("GET", "/changes/", **query)
        except Away as away:
            if not is_away:
                typer.echo(f"{away} Trying again.", err=True)
            is_away = True
            sleep(SECONDS_BETWEEN_LOOKS)
        else:
            return page


def trigger(gateway: str, token: str, kind: str, *, workspace: str | None) -> None:
    """Make one change of the kind. Raises `CommandError` for one that no call of the API makes alone."""
    if kind not in TRIGGERS:
        raise CommandError(f"This kind cannot be triggered. These can: {', '.join(TRIGGERS)}.", status=2)
    api = Api(gateway, token)
    api.choose(workspace)
    TRIGGERS[kind](api)
    typer.echo(f"Made one {kind}.")


def _send(receiver: httpx.Client, url: str, signer: Webhook, change: Mapping[str, Any]) -> str:
    """What became of it, in words."""
    told = {name: change[name] for name in ("resource_id", "data")}
    body = orjson.dumps({"type": change["kind"], "timestamp": change["at"], **told})
    at = datetime.now(UTC)
    headers = {
        "content-type": "application/json",
        "user-agent": "Duograph-Webhooks",
        "webhook-id": change["id"],
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signer.sign(change["id"], at, body.decode()),
    }
    try:
        answer = receiver.post(url, content=body, headers=headers)
    except httpx.HTTPError as error:
        return f"{type(error).__name__}"
    return f"{answer.status_code} after {answer.elapsed.total_seconds() * 1000:.0f} ms"


def _reason_of(answer: httpx.Response) -> str:
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        return answer.reason_phrase
    return detail if isinstance(detail, str) else "; ".join(str(each["msg"]) for each in detail)
