"""Codes of authenticator apps: time-based one-time passwords (RFC 6238), by pyotp."""

from datetime import datetime

import pyotp

ISSUER = "Duograph"
DIGITS = 6
# Codes of the previous and next step are accepted too: clocks differ, and typing takes time.
_TOLERANCE = 1


def new_secret() -> str:
    """160 random bits in base32."""
    return pyotp.random_base32()


def provisioning_uri(secret: str, email: str) -> str:
    """The `otpauth://` address that authenticator apps read from a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name=ISSUER)


def code_at(secret: str, at: datetime) -> str:
    """The code of that moment."""
    return pyotp.TOTP(secret).at(at)


def matching_step(secret: str, code: str, at: datetime, after: int = -1) -> int | None:
    """The time step of `code` if it is later than the step `after`; None for a wrong code."""
    totp = pyotp.TOTP(secret)
    current = totp.timecode(at)
    matching = [
        step
        for step in range(current - _TOLERANCE, current + _TOLERANCE + 1)
        if pyotp.utils.strings_equal(totp.generate_otp(step), code) and step > after
    ]
    return matching[0] if matching else None
