"""Forms: their values, their errors, and the token that protects them from other sites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self
from urllib.parse import parse_qs

from starlette.requests import Request

from gateway.web.kit.origins import is_from_elsewhere
from gateway.web.words.messages import in_language
from gateway.web.words.problems import in_plain_words
from resolvers.operations.bodies import read_body
from schema.errors import Invalid, NotPermitted, Problem, problem
from schema.languages.speech import gettext
from storage.sealing import Purpose, is_signed, masked, sign, unmasked

TOKEN = "form_token"  # noqa: S105
MOST_FIELDS = 1000
_CONTENT_TYPE = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Form:
    """Values by the name of their field, and the problems that a resolver found in them.

    A field has the name of the input's: `name`, or `feature_settings.analytics_compare` for a nested one.
    `labels` are collected while the page is rendered.
    """

    values: Mapping[str, Sequence[str]]
    problems: Sequence[Problem] = ()
    labels: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, **values: Any) -> Self:
        """A form to show: `True` is a ticked box, `None` an empty field."""
        return cls({name: _as_texts(value) for name, value in values.items()})

    def raw(self, name: str) -> str:
        """The last value as entered; empty if there is none."""
        values = self.values.get(name) or [""]
        return values[-1]

    def text(self, name: str) -> str:
        return self.raw(name).strip()

    def optional(self, name: str) -> str | None:
        """The text, None for an empty field."""
        return self.text(name) or None

    def all(self, name: str) -> list[str]:
        return list(self.values.get(name, ()))

    def checked(self, name: str) -> bool:
        return bool(self.values.get(name))

    def refused(self, invalid: Invalid) -> Self:
        """The same values with their problems."""
        return replace(self, problems=invalid.problems)

    @property
    def errors(self) -> dict[str, str]:
        """Messages by field name; an empty name is for the whole form."""
        messages: dict[str, str] = {}
        for entry in self.problems:
            parts = [part for part in entry["loc"] if isinstance(part, str)]
            name = ".".join(parts[1:] if parts[:1] == ["data"] else parts)
            messages.setdefault(name, in_language(in_plain_words(entry)))
        return messages

    def label(self, name: str, text: str) -> str:
        """`text`, remembered as the label of the field."""
        self.labels[name] = text
        return text

    def called(self, name: str, message: str) -> str:
        """The message after the field's label, for the list of errors."""
        label = self.labels.get(name, "").removesuffix(gettext(" (optional)"))
        return f"{label}: {message}" if label else message


def token_for(secret: bytes, binding: str) -> str:
    """A token of a form, another one each time; `binding` is a secret of the browser that it is for."""
    return masked(sign(secret, Purpose.FORM, binding))


async def read_form(request: Request, secret: bytes, binding: str) -> Form:
    """The sent form. Raises `NotPermitted` if its token is not valid for this browser."""
    if is_from_elsewhere(request.headers):
        raise NotPermitted("This form was sent from another site, so nothing was changed.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _CONTENT_TYPE:
        raise NotPermitted("This address only accepts forms.")
    try:
        values = parse_qs(
            (await read_body(request)).decode(),
            keep_blank_values=True,
            max_num_fields=MOST_FIELDS,
            errors="strict",
        )
    except ValueError:
        raise Invalid([problem(("body",), "This form cannot be read", "form")]) from None
    tokens = values.pop(TOKEN, [])
    if len(tokens) != 1 or not is_signed(secret, Purpose.FORM, unmasked(tokens[0]), binding):
        raise NotPermitted(
            "This form has expired, so nothing was changed. Go back, reload the page and try again."
        )
    return Form(values)


def _as_texts(value: Any) -> list[str]:
    if value is None or value is False:
        return []
    if value is True:
        return ["on"]
    return list(map(str, value)) if isinstance(value, list | tuple | set | frozenset) else [str(value)]
