"""The bases of the types and inputs of both surfaces."""

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Annotated, Any, ClassVar, Self, TypeVar

import strawberry
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticOmit

from schema.errors import Invalid, problem
from schema.kit.deprecation import reason_of
from schema.kit.read_back import Repeated, without_repeated
from schema.values.scalars import Id, check_text

Model = TypeVar("Model", bound=BaseModel)

# An object may have more keys than its model has fields, so that a few unknown ones can be listed by name.
SPARE_KEYS = 20
MOST_COUNTED = 10_000


class Output(BaseModel):
    """An object in an answer. It is made from a row; columns that are not fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_serialization_defaults_required=True)

    @classmethod
    def made(cls, **values: Any) -> Self:
        """An object with these values for all its fields, as they are.

        Unlike `model_construct`, it does not look for defaults and aliases, which takes most of its time.
        """
        new = cls.__new__(cls)
        object.__setattr__(new, "__dict__", values)
        object.__setattr__(new, "__pydantic_fields_set__", set(values))
        object.__setattr__(new, "__pydantic_extra__", None)
        object.__setattr__(new, "__pydantic_private__", None)
        return new


# The key of a field's metadata for the field of its shape, which holds what its resolver would return.
SHAPED = "shaped"


def entity_tag(content: bytes) -> str:
    """A strong entity tag (RFC 9110 8.8.3) of an answer's bytes.

    BLAKE2 takes half the time of SHA-256 here: OpenSSL, which does that one, looks it up at each use.
    """
    return f'"{blake2b(content, digest_size=16).hexdigest()}"'


class Resource(Output):
    """An output with an id, which can be read on its own.

    `unhashed` names the fields that differ from answer to answer, like signed URLs.
    """

    unhashed: ClassVar[frozenset[str]] = frozenset()

    id: Annotated[Id, Field(description="UUID, version 4.")]

    def etag_text(self) -> str:
        """The entity tag of the answer's bytes, nested data included."""
        return entity_tag(self.model_dump_json(exclude=set(self.unhashed)).encode())

    @strawberry.pydantic.field(
        description="The version of the resource, for `ifMatch`; differs after every change.",
        metadata={SHAPED: "etag"},
    )
    def etag(self) -> str:
        return self.etag_text()


@dataclass
class Count:
    """The context of one validation: the number of problems so far.

    `reads_back`: fields of the resource that cannot change may repeat their values.
    """

    problems: int = 0
    reads_back: bool = False


class Input(BaseModel):
    """An object in a request. Unknown fields are rejected, as are infinity and NaN.

    The fields of an object with far too many keys are not validated, and no object is after 10,000 problems.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="wrap")
    @classmethod
    def _bound(cls, value: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        count = info.context if isinstance(info.context, Count) else Count()
        if count.problems >= MOST_COUNTED:
            raise PydanticOmit
        if (
            isinstance(value, dict)
            and len(value) > SPARE_KEYS
            and len(value) > (most := len(cls.__pydantic_fields__) + SPARE_KEYS)
        ):
            count.problems += 1
            sizes = {"most": most, "sent": len(value)}
            raise PydanticCustomError(
                "too_many_fields", "Object should have at most {most} fields, not {sent}", sizes
            )
        before = count.problems
        try:
            return handler(value)
        except ValidationError as error:
            # The sum includes the problems of nested objects, which they have counted already.
            count.problems = before + error.error_count()
            raise

    @field_validator("*", mode="after")
    @classmethod
    def _check_texts(cls, value: Any) -> Any:
        if isinstance(value, str):
            check_text(value)
            return value
        content = unwrapped(value)
        for item in content if isinstance(content, list) else [content]:
            if isinstance(item, str):
                check_text(item)
        return value


class Update(Input):
    """A change to a resource: fields left out keep their values.

    Every field is a `Maybe[X | None]`. Null clears the fields named in `clears` and empties those in
    `empties`; for the others it is the same as leaving the field out. Over REST, the other fields of `reads`,
    the resource, can be sent as they were read; `keys` identifies the items of its lists.
    """

    clears: ClassVar[frozenset[str]] = frozenset()
    empties: ClassVar[Mapping[str, type]] = {}
    reads: ClassVar[type[BaseModel] | None] = None
    keys: ClassVar[Mapping[str, str]] = {}

    _repeated: Sequence[Repeated] = PrivateAttr(default=())

    @model_validator(mode="wrap")
    @classmethod
    def _take_repeated(
        cls, value: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        context = info.context
        reads_back = isinstance(context, Count) and context.reads_back and isinstance(value, dict)
        if cls.reads is None or not reads_back:
            return handler(value)
        kept, repeated = without_repeated(value, cls, cls.reads, cls.keys)
        made = handler(kept)
        made._repeated = repeated
        return made

    @property
    def repeated(self) -> Sequence[Repeated]:
        """The fields that were sent although they cannot change; they must have their present values."""
        return self._repeated

    def changes(self) -> dict[str, Any]:
        """The fields to change with their new values; nested models as dictionaries of their sent fields."""
        changes = self.model_dump(exclude_unset=True)
        for name in [name for name, value in changes.items() if value is None and name not in self.clears]:
            if name in self.empties:
                changes[name] = self.empties[name]()
            else:
                del changes[name]
        return changes


class Filters(Input):
    """Arguments of a read: query parameters in REST, arguments of the field in GraphQL.

    Those that are `paged` have a `limit`, for which GraphQL also takes `first`. What they ask for
    `may_be_gone` if it was kept only for a time.
    """

    paged: ClassVar[bool] = False
    may_be_gone: ClassVar[bool] = False

    # Beside the other parameters of an operation, not inside a parameter of its own.
    is_spread: ClassVar[bool] = True

    @cached_property
    def prepared(self) -> dict[Any, Any]:
        """What has been computed from these arguments; it is kept as long as they are."""
        return {}

    @classmethod
    def of_arguments(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        """The data to validate for arguments of GraphQL, where null is the same as left out.

        Raises `Invalid` for null in an argument that selects rows: a filter without a value would give all.
        """
        message = "Input should not be null: leave the filter out to get everything"
        problems = [
            problem(("filters", name), message, "null_filter")
            for name, value in arguments.items()
            if value is None and name in cls.selecting()
        ]
        if problems:
            raise Invalid(problems)
        return {name: value for name, value in arguments.items() if value is not None}

    @classmethod
    def selecting(cls) -> Collection[str]:
        """The arguments that select rows."""
        return ()


def graphql_type(cls: type[Model]) -> type[Model]:
    """Make a model a GraphQL type too, described by its docstring.

    Strawberry rejects fields with `exclude_if`. It is meant for REST only, so it is removed for the moment:
    a field that REST leaves out is null in GraphQL.
    """
    conditions = {name: field.exclude_if for name, field in cls.model_fields.items() if field.exclude_if}
    for name in conditions:
        cls.model_fields[name].exclude_if = None
    strawberry.pydantic.type(cls, description=inspect.getdoc(cls))
    for name, condition in conditions.items():
        cls.model_fields[name].exclude_if = condition
    _mark_deprecated(cls)
    return cls


def graphql_input(cls: type[Model]) -> type[Model]:
    """Make a model a GraphQL input too, described by its docstring.

    It only declares the input: what is sent is read as the data that REST would have sent, so that an
    operation validates all its arguments at once, with the same models on both surfaces.
    """
    strawberry.pydantic.input(cls, description=inspect.getdoc(cls))
    _mark_deprecated(cls)
    return cls


def _mark_deprecated(cls: type[Model]) -> None:
    for field in cls.__strawberry_definition__.fields:  # type: ignore[attr-defined]
        declared = cls.model_fields.get(field.python_name)
        if declared is not None:
            field.deprecation_reason = reason_of(declared)


def unwrapped(value: Any) -> Any:
    """The value inside a `Maybe`."""
    return value.value if isinstance(value, strawberry.Some) else value
