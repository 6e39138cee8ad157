"""The inputs of signing up, signing in and changing the own account, which only the pages have."""

from typing import Annotated

from pydantic import Field

from schema.kit.base import Input
from schema.values.names import NAMED
from schema.values.scalars import Bool, Email
from storage.enums import Language

SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 1000
# It holds an email and a path.
LONGEST_SIGN_UP_TOKEN = 5000

Password = Annotated[str, Field(min_length=SHORTEST_PASSWORD, max_length=LONGEST_PASSWORD)]
# A password to compare with the stored one may break the rules: the answer is that it is wrong.
EnteredPassword = Annotated[str, Field(max_length=LONGEST_PASSWORD)]
UserName = Annotated[str | None, Field(min_length=1, max_length=256), NAMED]


class SignUp(Input):
    """The email of someone who wants an account."""

    email: Email


class NewAccount(Input):
    """A new user's password and name, and the secret of the emailed link."""

    token: Annotated[str, Field(max_length=LONGEST_SIGN_UP_TOKEN)]
    password: Password
    name: UserName = None


class SignIn(Input):
    """An email and a password."""

    email: Annotated[str, Field(max_length=320)]
    password: EnteredPassword


class ForgottenPassword(Input):
    """The email of a user who forgot the password."""

    email: Email


class NewPassword(Input):
    """A new password in place of a forgotten one, and the secret of the emailed link."""

    token: Annotated[str, Field(max_length=100)]
    password: Password


class OwnName(Input):
    """The name of the signed-in user; null for none."""

    name: UserName = None


class OwnLanguage(Input):
    """The language that the signed-in user chooses."""

    language: Language


class NewAddress(Input):
    """The email that the signed-in user wants instead of the current one."""

    email: Email


class PasswordChange(Input):
    """A new password, and the current one as proof.

    The change ends all other sessions. `end_everything` also ends personal access tokens and the access of
    applications.
    """

    current_password: EnteredPassword
    new_password: Password
    end_everything: Bool = True
