"""Settings of sign-up, policies, OAuth registration and leaked credentials."""

from typing import Annotated

from pydantic import BaseModel, Field

from gateway.settings.values.types import WebAddress


class SignInSettings(BaseModel):
    """Sign-in and OAuth"""

    sign_up: Annotated[
        bool, Field(description="Whether anyone may sign up. If not, operators create users.")
    ] = True
    privacy_url: Annotated[
        WebAddress | None,
        Field(description="Your privacy policy, which every page of users and customers links to."),
    ] = None
    terms_url: Annotated[
        WebAddress | None, Field(description="Your terms of use, which the same pages link to.")
    ] = None
    security_contact: Annotated[
        str | None,
        Field(
            pattern=r"^(https://|mailto:)[!-~]+$",
            description="Where to report weaknesses, `mailto:...` or `https://...`, which "
            "`/.well-known/security.txt` says.",
        ),
    ] = None
    open_registration: Annotated[
        bool,
        Field(
            description="Whether anyone may register OAuth clients. If not, users and operators create them."
        ),
    ] = False
    secret_scanning_keys_url: Annotated[
        WebAddress,
        Field(description="The public keys that verify GitHub's reports of leaked tokens."),
    ] = "https://api.github.com/meta/public_keys/secret_scanning"  # noqa: S105
