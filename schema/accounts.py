"""What people send to sign up, sign in and set their password; only the pages take it."""

from typing import Annotated

from pydantic import Field

from schema.base import Input
from schema.names import NAMED
from schema.scalars import Bool, Email

SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 1000

Password = Annotated[str, Field(min_length=SHORTEST_PASSWORD, max_length=LONGEST_PASSWORD)]
# What is compared with something stored is held to no form: a wrong one is wrong, and no more is said.
GivenPassword = Annotated[str, Field(max_length=LONGEST_PASSWORD)]
UserName = Annotated[str | None, Field(min_length=1, max_length=256), NAMED]


class SignUp(Input):
    """A new user, by their own word."""

    email: Email
    password: Password
    name: UserName = None


class SignIn(Input):
    """What proves a user."""

    email: Annotated[str, Field(max_length=320)]
    password: GivenPassword


class ForgottenPassword(Input):
    """Whose password is forgotten."""

    email: Email


class NewPassword(Input):
    """A new password in the place of a forgotten one, and the secret of the link that was mailed."""

    token: Annotated[str, Field(max_length=100)]
    password: Password


class PasswordChange(Input):
    """A new password, and the proof that it is the user who changes it.

    `end_everything` ends personal tokens and what applications were allowed, beside all other sessions.
    """

    current_password: GivenPassword
    new_password: Password
    end_everything: Bool = True
