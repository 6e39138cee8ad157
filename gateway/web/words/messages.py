"""Messages that come in English from operations, in the language of a page.

An operation says the same to programs and to people. A page looks its text up among these messages, in which
`%(name)s` stands for any text.
"""

import re
from functools import cache

from schema.languages.speech import current_speech, gettext, noted
from storage.enums import Language

MESSAGES = (
    # What became of the request.
    noted("Bad request"),
    noted("Forbidden"),
    noted("Not found"),
    noted("Too many requests"),
    noted("Service unavailable"),
    noted("Internal server error"),
    noted("There is no such workspace."),
    noted("There is no such customer."),
    noted("There is no such share."),
    noted("There is no such file share session."),
    noted("There is no such member."),
    noted("This file is no longer available."),
    noted("Only a team has members to add, change or remove."),
    noted("Only the owner of the team can do this."),
    noted("Only the owner and the billing managers of the team can do this."),
    noted("This form was sent from another site, so nothing was changed."),
    noted("This form has expired, so nothing was changed. Go back, reload the page and try again."),
    noted("This address only accepts forms."),
    noted("This form cannot be read"),
    noted("The input is not valid."),
    noted("The code is wrong, used or expired. Request a new one."),
    noted("More than %(limit)s calls in %(window)s seconds: try again in %(seconds)s seconds."),
    noted("An unexpected error occurred. Report it with the request id %(id)s."),
    # What is wrong with a field.
    noted("Enter at least %(number)s characters"),
    noted("Enter at most %(number)s characters"),
    noted("This should not contain the NUL character"),
    noted("This should have at least 1 visible character"),
    noted("This email is already in use"),
    noted("A customer has an owner: make another member the owner instead"),
    noted("A customer has an owner: make another member the owner first"),
    noted("A customer has at most %(number)s members: remove one first"),
    noted("This password is easy to guess: choose a longer or less common one"),
    noted("Wrong email or password"),
    noted("This is not your password"),
    noted("This is not your current password"),
    noted("This code is wrong or has been used"),
    noted("This passkey was not accepted: try again"),
    # What cannot be done now.
    noted(
        "Too many wrong passwords for this account. Try again in %(wait)s, or reset your password by email."
    ),
    noted(
        "Many emails were requested for this address. Try again in %(wait)s, "
        "or use the link in the latest one."
    ),
    noted("%(number)s seconds"),
    noted("%(number)s minutes"),
    noted(
        "Too many wrong codes were entered for this account. Try again in %(number)s minutes, "
        "or use a recovery code or a passkey."
    ),
    noted("This link is for another account. Sign in to that account, then confirm."),
    noted("There is no application with this client_id."),
    noted("The application has changed in the meantime. Start again from the application."),
    noted("The request cannot be read."),
    # Links of the pages.
    noted("Dashboard"),
    noted("Guides"),
    noted("Workspaces"),
    noted("Privacy"),
    noted("Terms"),
)
_PLACEHOLDER = re.compile(r"%\\\((\w+)\\\)s")


def in_language(text: str) -> str:
    """The text in the language of the page; as it is if no catalogue knows it."""
    if current_speech().language is Language.EN or not text:
        return text
    # In a text of an operation, a sign of per cent begins no placeholder.
    if "%" not in text and (known := gettext(text)) != text:
        return known
    for message, pattern in _patterns():
        if match := pattern.fullmatch(text):
            # A wait is a text that is translated itself.
            values = {name: in_language(value) for name, value in match.groupdict().items()}
            return gettext(message, **values)
    return text


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The messages with placeholders."""
    return tuple(
        (message, re.compile(_PLACEHOLDER.sub(r"(?P<\1>.+)", re.escape(message)), re.DOTALL))
        for message in MESSAGES
        if "%(" in message
    )
