"""Second factors and passkeys of users, and the inputs of the pages that use them."""

from typing import Annotated, ClassVar

import strawberry
from pydantic import BaseModel, Field

from schema.accounts.accounts import EnteredPassword
from schema.kit.base import Input, Output, Resource, Update, graphql_input, graphql_type
from schema.kit.fields import CreatedAt, ModifiedAt
from schema.kit.pages import ListQuery, SortedByCreation
from schema.values.names import NAMED
from schema.values.scalars import Id, Int, Moment

LONGEST_PASSKEY = 16_384

PasskeyName = Annotated[
    str, Field(min_length=1, max_length=64, description="The user's name for the passkey."), NAMED
]
# A code may have any form: the answer is that it is wrong.
EnteredCode = Annotated[str, Field(max_length=64)]
PasskeyResponse = Annotated[str, Field(max_length=LONGEST_PASSKEY)]


@graphql_type
class SecondFactors(Output):
    """The second factors of a user, one of which is needed after the password."""

    enabled: Annotated[bool, Field(description="Whether a sign-in with the password needs a second factor.")]
    totp_created_at: Annotated[
        Moment | None, Field(description="The time the authenticator app was set up; null without one.")
    ]
    totp_last_used_at: Annotated[
        Moment | None,
        Field(description="The time a code of the authenticator app was last accepted; null if never."),
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
        list[str],
        Field(description="The connections between browser and authenticator, like `internal` or `usb`."),
    ]
    last_used_at: Annotated[Moment | None, Field(description="The time of the last use; null if never used.")]


@graphql_input
class PasskeyUpdate(Update):
    """Changes to a passkey. Fields left out keep their values."""

    reads: ClassVar[type[BaseModel] | None] = Passkey

    name: strawberry.Maybe[PasskeyName | None]


class PasskeyQuery(ListQuery):
    """The arguments of the list of the user's passkeys."""

    sorting: SortedByCreation = None


class PasskeyCreate(Input):
    """A new passkey: its name, and the result of the browser's `create()` as JSON."""

    name: PasskeyName
    passkey: PasskeyResponse


class TotpConfirmation(Input):
    """The sealed secret that the page showed, and a code of the authenticator app that has it."""

    enrolment: Annotated[str, Field(max_length=1000)]
    code: EnteredCode


class SecondStep(Input):
    """A second factor: an authenticator app's code, a recovery code, or a passkey response as JSON."""

    code: EnteredCode = ""
    passkey: PasskeyResponse = ""


class Confirmation(Input):
    """The proof for a confirmation: the password, with a code if one is needed, or a passkey alone."""

    password: EnteredPassword = ""
    code: EnteredCode = ""
    passkey: PasskeyResponse = ""


class PasskeySignIn(Input):
    """The result of the browser's `get()` as JSON."""

    passkey: PasskeyResponse
