"""Requests and replies of the protocol's endpoints, independent of any web framework."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from authlib.oauth2.rfc6749 import InvalidClientError, InvalidRequestError, OAuth2Payload, OAuth2Request
from authlib.oauth2.rfc6749.util import extract_basic_authorization

Pairs = Sequence[tuple[str, str]]


class Payload(OAuth2Payload):  # type: ignore[misc]
    """Parameters as sent; if one is repeated, the first value counts."""

    def __init__(self, pairs: Pairs) -> None:
        self._lists: dict[str, list[str]] = {}
        for name, value in pairs:
            self._lists.setdefault(name, []).append(value)

    @property
    def data(self) -> dict[str, str]:
        return {name: values[0] for name, values in self._lists.items()}

    @property
    def datalist(self) -> dict[str, list[str]]:
        return self._lists


class ProtocolRequest(OAuth2Request):  # type: ignore[misc]
    """A request of the protocol.

    Its URL is a placeholder that passes Authlib's check for https, which is the reverse proxy's concern.
    """

    def __init__(self, method: str, pairs: Pairs, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(method, "https://gateway/", headers=headers)
        self.payload = Payload(pairs)

    @property
    def form(self) -> dict[str, str]:
        return self.payload.data

    @property
    def args(self) -> dict[str, str]:
        return self.payload.data

    @property
    def named_client_id(self) -> str:
        """The client_id in the request; empty if it cannot be read."""
        try:
            client_id, _ = extract_basic_authorization(self.headers)
        except ValueError:
            client_id = None
        return client_id or self.form.get("client_id", "")

    @property
    def has_secret(self) -> bool:
        """Whether the header or the form has a secret; `check` has read the header."""
        _, secret = extract_basic_authorization(self.headers)
        return bool(secret or self.form.get("client_secret"))

    def check(self) -> None:
        """Raises `OAuth2Error` for requests that Authlib would accept or fail on."""
        repeated = sorted(name for name, values in self.payload.datalist.items() if len(values) > 1)
        if repeated:
            raise InvalidRequestError("A parameter was sent more than once.")
        if any("\x00" in value for value in self.payload.data.values()):
            raise InvalidRequestError("A parameter contains the NUL character.")
        try:
            client_id, secret = extract_basic_authorization(self.headers)
        except ValueError:
            raise InvalidClientError("The Authorization header cannot be read.", status_code=401) from None
        if client_id is None:
            return
        if secret is not None and "client_secret" in self.form:
            raise InvalidRequestError("The client sent its secret in two places.")
        if self.form.get("client_id", client_id) != client_id:
            raise InvalidRequestError("The request names two different clients.")


@dataclass
class Reply:
    """The response: a JSON body, or a redirect address."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def location(self) -> str | None:
        return self.headers.get("Location")

    @location.setter
    def location(self, address: str) -> None:
        self.headers["Location"] = address
