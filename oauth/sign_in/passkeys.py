"""Passkeys: the ceremonies of WebAuthn (W3C, level 2), by py_webauthn."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import (
    base64url_to_bytes,
    bytes_to_base64url,
    parse_authentication_credential_json,
    parse_client_data_json,
    parse_registration_credential_json,
)
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from storage.tables.accounts.second_factors import PasskeyRow

NAME = "Duograph"
# How long the browser lets its user choose an authenticator, in milliseconds.
TIMEOUT = 5 * 60 * 1000
LONGEST_CREDENTIAL_ID = 1400  # 1,023 bytes (WebAuthn 5.8.3) in base64url, rounded up.
MOST_TRANSPORTS = 8


class Refused(Exception):
    """The browser's answer is invalid."""


@dataclass(frozen=True)
class NewPasskey:
    """A passkey that an authenticator has just created; `public_key` is COSE, both texts are base64url."""

    credential_id: str
    public_key: str
    sign_count: int
    transports: list[str]


@dataclass(frozen=True)
class Assertion:
    """A browser's message about the use of a passkey, not verified yet.

    `user_id` is the user that the authenticator created the passkey for, if it says so.
    """

    sent: Mapping[str, Any]
    credential_id: str
    challenge: bytes
    user_id: UUID | None


@dataclass(frozen=True)
class RelyingParty:
    """This server as a relying party: `id` is the host of passkeys, `origin` that of our pages."""

    id: str
    origin: str

    @classmethod
    def at(cls, url: str) -> "RelyingParty | None":
        """The relying party of pages at `url`; None if browsers offer no passkeys there.

        They require a host name instead of an IP address, and https except on localhost.
        """
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if not host or _is_address(host):
            return None
        if parts.scheme != "https" and host != "localhost" and not host.endswith(".localhost"):
            return None
        return cls(host, f"{parts.scheme}://{parts.netloc}".lower())

    def creation_options(
        self, challenge: bytes, user_id: UUID, email: str, existing: Sequence[PasskeyRow]
    ) -> str:
        """JSON for `navigator.credentials.create`; `existing` passkeys are not created again."""
        options = generate_registration_options(
            rp_id=self.id,
            rp_name=NAME,
            user_id=user_id.bytes,
            user_name=email,
            challenge=challenge,
            timeout=TIMEOUT,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.PREFERRED,
                user_verification=UserVerificationRequirement.PREFERRED,
            ),
            exclude_credentials=_described(existing),
        )
        return options_to_json(options)

    def request_options(self, challenge: bytes, allowed: Sequence[PasskeyRow] = (), *, verified: bool) -> str:
        """JSON for `navigator.credentials.get`: one of `allowed`, or any that the authenticator finds.

        `verified` requires the authenticator to verify its user, by a PIN or a fingerprint.
        """
        required, discouraged = (
            UserVerificationRequirement.REQUIRED,
            UserVerificationRequirement.DISCOURAGED,
        )
        options = generate_authentication_options(
            rp_id=self.id,
            challenge=challenge,
            timeout=TIMEOUT,
            allow_credentials=_described(allowed),
            user_verification=required if verified else discouraged,
        )
        return options_to_json(options)

    def check_creation(self, text: str, challenge: bytes) -> NewPasskey:
        """The passkey that the browser created. Raises `Refused`."""
        try:
            credential = parse_registration_credential_json(text)
            verified = verify_registration_response(
                credential=credential,
                expected_challenge=challenge,
                expected_rp_id=self.id,
                expected_origin=self.origin,
            )
        except Exception as error:  # Its parsers raise many kinds of exceptions.
            raise Refused from error
        transports = [transport.value for transport in credential.response.transports or ()]
        return NewPasskey(
            bytes_to_base64url(verified.credential_id),
            bytes_to_base64url(verified.credential_public_key),
            verified.sign_count,
            transports[:MOST_TRANSPORTS],
        )

    def check_use(self, assertion: Assertion, public_key: str, *, verified: bool) -> int:
        """The authenticator's signature count, which the caller compares with the last one.

        `verified` requires that the authenticator has verified its user. Raises `Refused`.
        """
        try:
            result = verify_authentication_response(
                credential=dict(assertion.sent),
                expected_challenge=assertion.challenge,
                expected_rp_id=self.id,
                expected_origin=self.origin,
                credential_public_key=base64url_to_bytes(public_key),
                credential_current_sign_count=0,
                require_user_verification=verified,
            )
        except Exception as error:  # Its parsers raise many kinds of exceptions.
            raise Refused from error
        return result.new_sign_count


def read_assertion(text: str) -> Assertion:
    """The assertion that the browser sent. Raises `Refused` if it cannot be parsed."""
    try:
        sent = json.loads(text)
        credential = parse_authentication_credential_json(sent)
        handle = credential.response.user_handle
        return Assertion(
            sent=sent,
            credential_id=bytes_to_base64url(credential.raw_id),
            challenge=parse_client_data_json(credential.response.client_data_json).challenge,
            user_id=UUID(bytes=handle) if handle else None,
        )
    except Exception as error:  # Its parsers raise many kinds of exceptions.
        raise Refused from error


def challenge_of_creation(text: str) -> bytes:
    """The challenge in the browser's answer. Raises `Refused` if it cannot be parsed."""
    try:
        credential = parse_registration_credential_json(text)
        return parse_client_data_json(credential.response.client_data_json).challenge
    except Exception as error:  # Its parsers raise many kinds of exceptions.
        raise Refused from error


def _described(rows: Sequence[PasskeyRow]) -> list[PublicKeyCredentialDescriptor]:
    return [
        PublicKeyCredentialDescriptor(
            id=base64url_to_bytes(row.credential_id),
            transports=[AuthenticatorTransport(transport) for transport in row.transports],
        )
        for row in rows
    ]


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
