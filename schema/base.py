"""What types and inputs of both surfaces have in common."""

import inspect
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Self, TypeVar

import strawberry
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticOmit
from strawberry.types.arguments import InputContext

from schema.scalars import Id, check_text

Model = TypeVar("Model", bound=BaseModel)

# An object may have more keys than its model has fields, so that a few unknown ones are listed by name.
SPARE_KEYS = 20
MOST_COUNTED = 10_000


class Output(BaseModel):
    """Something that callers read. Made from a row's mapping; columns that are no fields stay behind."""

    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_serialization_defaults_required=True)


class Resource(Output):
    """An output with an identity, which can be read by itself.

    `unhashed` names the fields that differ from answer to answer, like signed addresses.
    """

    unhashed: ClassVar[frozenset[str]] = frozenset()

    id: Annotated[Id, Field(description="UUID, version 4.")]

    def etag_text(self) -> str:
        """A strong entity tag (RFC 9110 8.8.3) of the answer's bytes, nested data included."""
        content = self.model_dump_json(exclude=set(self.unhashed))
        return f'"{sha256(content.encode()).hexdigest()[:32]}"'

    @strawberry.pydantic.field(description="Changes with every change of the resource; for `ifMatch`.")
    def etag(self) -> str:
        return self.etag_text()


@dataclass
class Count:
    """The context of one validation: the problems that its models have come across so far."""

    problems: int = 0


class Input(BaseModel):
    """Something that callers send: an unknown field is refused, and so is a number that JSON lacks.

    Of an object with far too many keys no field is looked at, and after 10,000 problems no object is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="wrap")
    @classmethod
    def _bound(cls, value: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        count = info.context if isinstance(info.context, Count) else Count()
        if count.problems >= MOST_COUNTED:
            raise PydanticOmit
        most = len(cls.model_fields) + SPARE_KEYS
        if isinstance(value, dict) and len(value) > most:
            count.problems += 1
            sizes = {"most": most, "sent": len(value)}
            raise PydanticCustomError(
                "too_many_fields", "Object should have at most {most} fields, not {sent}", sizes
            )
        before = count.problems
        try:
            return handler(value)
        except ValidationError as error:
            # The problems of the objects inside are counted there too.
            count.problems = before + error.error_count()
            raise

    @field_validator("*", mode="after")
    @classmethod
    def _check_texts(cls, value: Any) -> Any:
        bare = _bare(value)
        for text in bare if isinstance(bare, list) else [bare]:
            if isinstance(text, str):
                check_text(text)
        return value


class Update(Input):
    """A change: a field left out keeps its value.

    Every field is a `Maybe[X | None]`. Null clears the fields named in `clears`; for the others it is
    as if left out.
    """

    clears: ClassVar[frozenset[str]] = frozenset()

    def changes(self) -> dict[str, Any]:
        """The fields to change with their new values, nested models as dictionaries of what was sent."""
        sent = self.model_dump(exclude_unset=True)
        return {name: value for name, value in sent.items() if value is not None or name in self.clears}


class Filters(Input):
    """Arguments of a read that are query parameters in REST and arguments of the field in GraphQL."""


def graphql_type(cls: type[Model]) -> type[Model]:
    """Make a model a GraphQL type too, described by its docstring.

    Strawberry refuses `exclude_if`, which it cannot follow. We mean it for REST only: what REST leaves
    out is null in GraphQL.
    """
    left_out = {name: field.exclude_if for name, field in cls.model_fields.items() if field.exclude_if}
    for name in left_out:
        cls.model_fields[name].exclude_if = None
    strawberry.pydantic.type(cls, description=inspect.getdoc(cls))
    for name, condition in left_out.items():
        cls.model_fields[name].exclude_if = condition
    return cls


def graphql_input(cls: type[Model]) -> type[Model]:
    """Make a model a GraphQL input too, described by its docstring.

    Strawberry hands the input on as the data that REST would have sent: an operation validates all its
    arguments at once, by the same models on both surfaces.
    """
    strawberry.pydantic.input(cls, description=inspect.getdoc(cls))
    definition = cls.__strawberry_definition__  # type: ignore[attr-defined]
    definition.from_input = _as_data
    return cls


def _as_data(model: type[BaseModel], value: Any, context: InputContext) -> dict[str, Any]:
    definition = model.__strawberry_definition__  # type: ignore[attr-defined]
    data: dict[str, Any] = {}
    for field in definition.fields:
        name = context.config.name_converter.from_field(field)
        if name in value:
            converted = context.convert(value[name], field.type)
            data[field.python_name] = _bare(converted)
    return data


def _bare(value: Any) -> Any:
    return value.value if isinstance(value, strawberry.Some) else value
