"""Settings of sign-up, OAuth registration and leaked credentials."""

from typing import Annotated

from pydantic import BaseModel, Field

from gateway.settings.types import WebAddress


class SignInSettings(BaseModel):
    """Sign-in and OAuth"""

    sign_up: Annotated[
        bool, Field(description="Whether anyone may sign up. If not, operators create users.")
    ] = True
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
