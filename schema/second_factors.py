"""Second factors, as callers see them: the state of a user's, and their passkeys; and what the pages take."""

from typing import Annotated

import strawberry
from pydantic import Field

from schema.accounts import GivenPassword
from schema.base import Input, Output, Resource, Update, graphql_input, graphql_type
from schema.fields import CreatedAt, ModifiedAt
from schema.names import NAMED
from schema.pages import ListQuery, SortedByCreation
from schema.scalars import Id, Int, Moment

LONGEST_PASSKEY = 16_384

PasskeyName = Annotated[
    str, Field(min_length=1, max_length=64, description="What the user calls the passkey."), NAMED
]
# A wrong one is wrong, and no more is said.
GivenCode = Annotated[str, Field(max_length=64)]
GivenPasskey = Annotated[str, Field(max_length=LONGEST_PASSKEY)]


@graphql_type
class SecondFactors(Output):
    """What a user has to show after the password; without a factor, nothing."""

    enabled: Annotated[bool, Field(description="Whether a sign-in with the password needs a second factor.")]
    totp_created_at: Annotated[
        Moment | None, Field(description="When the authenticator app was set up; null without one.")
    ]
    totp_last_used_at: Annotated[
        Moment | None, Field(description="When a code of the authenticator app was last accepted.")
    ]
    passkeys: Annotated[Int, Field(description="The number of passkeys.")]
    recovery_codes: Annotated[Int, Field(description="The number of unused recovery codes.")]


@graphql_type
class Passkey(Resource):
    """A passkey (WebAuthn credential) of a user."""

    created_at: CreatedAt
    modified_at: ModifiedAt
    user_id: Id
    name: PasskeyName
    transports: Annotated[
        list[str], Field(description="How browsers reach the authenticator, like `internal` or `usb`.")
    ]
    last_used_at: Annotated[Moment | None, Field(description="Null if never.")]


@graphql_input
class PasskeyUpdate(Update):
    """A change of a passkey."""

    name: strawberry.Maybe[PasskeyName | None]


class PasskeyQuery(ListQuery):
    """How the list of a user's passkeys is read."""

    sorting: SortedByCreation = None


class PasskeyCreate(Input):
    """A new passkey: its name, and the JSON of what the browser's `create()` gave."""

    name: PasskeyName
    passkey: GivenPasskey


class TotpConfirmation(Input):
    """The secret that the page showed, sealed, and the code that the authenticator app makes of it."""

    enrolment: Annotated[str, Field(max_length=1000)]
    code: GivenCode


class SecondStep(Input):
    """A second factor: a code of the authenticator app, a recovery code, or the JSON of a passkey's use."""

    code: GivenCode = ""
    passkey: GivenPasskey = ""


class Confirmation(Input):
    """What proves the user again: the password, with a code where one is needed, or a passkey alone."""

    password: GivenPassword = ""
    code: GivenCode = ""
    passkey: GivenPasskey = ""


class PasskeySignIn(Input):
    """The JSON of what the browser's `get()` gave."""

    passkey: GivenPasskey
