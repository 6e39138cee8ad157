"""Operations: resolvers with a declaration of their callers, arguments and results."""

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError, create_model

from oauth.principals import CORE_KINDS, WIDEST_SCOPES, PrincipalKind
from oauth.scopes import AUDITED_SCOPES, Scope, any_that_would_do, that_would_do
from resolvers.operations.live import Live
from schema.kit.base import Count, Filters, Input
from schema.kit.deprecation import Deprecation
from schema.kit.parameters import ABSENT, Parameter, parameters_of
from schema.kit.problems import invalid_of
from storage.changes.kinds import ChangeKind

Resolver = TypeVar("Resolver", bound=Callable[..., Awaitable[Any]])

LARGEST_BODY = 256 * 1024
LARGEST_BATCH = 16 * 1024 * 1024

Prepare = Callable[..., AbstractAsyncContextManager[Any]]
Finish = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, eq=False)
class Operation:
    """The declaration of a resolver, which both surfaces publish.

    `scope` is None if any credential of the kinds suffices, if it needs one of the scopes `any_of`, or if
    `why_public` explains why no credential is needed.
    `gives` is the operation that reads the same resource: `ETag` and `If-Match` compare its result, and a
    retry with the same Idempotency-Key returns it. `removes` reads the one that a deletion removes, which
    `If-Match` compares. One that is `repeatable` answers 200, with what is there, to an `external_id` that
    was reported before. `restricted` calls count against the lower limit. `fresh`
    operations grant access, so the user of a browser session must have entered the password within the last
    hour. `owners_only` refuses users who do not own the workspace, when
    `resolvers/operations/rows/lookups.py` looks up the row to change or the workspace to create something in.

    Slow work stays outside a change's transaction. `prepare` takes the resolver's arguments; it is entered
    before the transaction begins and left after it ends. Its value becomes `ctx.prepared`; if the operation
    raises, it can undo its work. `finish` takes the result after the commit and returns the one to answer
    with; it also runs for operations that change nothing.

    `largest_body` is the request's largest size in bytes. `weigh` takes the resolver's arguments and returns
    the cost of the call; without it a call costs 1. `deprecation` says when the operation ends, and what
    replaces it. `causes` are the kinds of changes that it may write to the change log: one that needs a scope
    that writes has to declare them, if only that there are none. `wider_filters` are those of one path, which
    `taking` declares. Runs are lines of the audit log if the operation `audits`, or if its scope is in
    `AUDITED_SCOPES`.
    """

    resolver: Callable[..., Awaitable[Any]]
    scope: Scope | None
    kinds: frozenset[PrincipalKind]
    any_of: tuple[Scope, ...] = ()
    gives: "Operation | None" = None
    removes: "Operation | None" = None
    why_public: str | None = None
    restricted: bool = False
    seals: bool = False
    makes_child: bool = False
    repeatable: bool = False
    fresh: bool = False
    owners_only: bool = False
    prepare: Prepare | None = None
    finish: Finish | None = None
    largest_body: int = LARGEST_BODY
    weigh: Callable[..., int] | None = None
    deprecation: Deprecation | None = None
    wider_filters: type[Filters] | None = None
    audits: bool = False
    causes: tuple[ChangeKind, ...] | None = None

    def __post_init__(self) -> None:
        if self.changes and self.causes is None:
            raise TypeError(
                f"{self.resolver.__module__}.{self.name} needs a scope that writes, and does not declare "
                "which changes it `causes`."
            )
        if self.owners_only and (self.prepare is not None or not self.changes):
            raise TypeError(
                f"{self.resolver.__module__}.{self.name} is for owners, which is checked inside its change: "
                "it needs a scope that writes, and has no `prepare`."
            )

    def taking(self, filters: type[Filters]) -> "Operation":
        """The same operation for a path with more parameters, as fields of a subclass of its filters."""
        return replace(self, wider_filters=filters)

    @property
    def name(self) -> str:
        return self.resolver.__name__

    @cached_property
    def sufficient_scopes(self) -> tuple[Scope, ...]:
        """The scopes that each suffice; empty if the operation needs none."""
        return any_that_would_do(self.any_of) if self.scope is None else that_would_do(self.scope)

    @cached_property
    def changes(self) -> bool:
        """Whether the operation is a mutation, that is, needs a scope that writes."""
        return self.scope is not None and self.scope.writes

    @property
    def compared(self) -> "Operation | None":
        """What reads the resource that `If-Match` is about."""
        return self.removes or self.gives

    @cached_property
    def is_audited(self) -> bool:
        return self.audits or self.scope in AUDITED_SCOPES

    @cached_property
    def is_conditional(self) -> bool:
        """Whether the operation changes or removes one resource, so that `If-Match` applies."""
        if self.removes is not None:
            return True
        if self.gives is None or self.makes_child:
            return False
        names = {parameter.name for parameter in self.parameters}
        identity = {"id"} & {parameter.name for parameter in self.gives.parameters}
        return self.changes and {"data"} | identity <= names

    @cached_property
    def description(self) -> str:
        """The published description: the resolver's docstring and the credential it needs."""
        text = inspect.getdoc(self.resolver) or ""
        if self.why_public is not None:
            return f"{text}\n\nNeeds no credential: {self.why_public}."
        if not self.sufficient_scopes:
            return f"{text}\n\nNeeds a credential, but no scope."
        scopes = " or ".join(f"`{scope}`" for scope in self.sufficient_scopes)
        needs = f"{text}\n\nNeeds the scope {scopes}."
        if self.owners_only:
            needs += " A user must also be an owner of the workspace."
        if self.fresh:
            needs += " A browser session also needs a sign-in within the last hour."
        if self.causes:
            kinds = ", ".join(f"`{kind}`" for kind in self.causes)
            needs += f"\n\nWrites to the change log: {kinds}."
        return needs

    def is_open_to(self, kind: PrincipalKind | None) -> bool:
        """Whether a credential of this kind, with all its scopes, may run it; None is no credential."""
        if not self.kinds:
            return True
        if kind not in self.kinds:
            return False
        needed = self.sufficient_scopes
        return not needed or not WIDEST_SCOPES[kind].isdisjoint(needed)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        declared, wider = parameters_of(self.resolver), self.wider_filters
        return tuple(
            replace(item, annotation=wider) if wider and item.place == "filters" else item
            for item in declared
        )

    @cached_property
    def answer(self) -> Any:
        """The type that the resolver returns; of one that goes on, the type of each item."""
        return get_args(self._returned)[0] if self.is_live else self._returned

    @cached_property
    def is_live(self) -> bool:
        """Whether the operation goes on, and tells items as they come: in GraphQL, a subscription."""
        return get_origin(self._returned) is Live

    @cached_property
    def _returned(self) -> Any:
        return inspect.signature(self.resolver, eval_str=True).return_annotation

    @cached_property
    def filters(self) -> type[Filters] | None:
        for parameter in self.parameters:
            if parameter.place == "filters":
                model: type[Filters] = parameter.annotation
                return model
        return None

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The model that validates the arguments, with a field for each parameter."""
        fields: dict[str, Any] = {
            parameter.name: (parameter.annotation, ... if parameter.default is ABSENT else parameter.default)
            for parameter in self.parameters
        }
        name = self.wider_filters.__name__ if self.wider_filters else self.name
        return create_model(f"{name}_arguments", __base__=Input, **fields)

    def validate(
        self, values: Mapping[str, Any], *, reads_back: bool = False, unnamed: Collection[str] = ()
    ) -> dict[str, Any]:
        """The arguments for the resolver. Raises `Invalid` with every problem at once.

        With `reads_back`, an update may repeat the fields of its resource that cannot change. A misspelt name
        stands for none of the parameters in `unnamed`, which are not sent by name.
        """
        try:
            context = Count(reads_back=reads_back)
            checked = self.arguments.model_validate(dict(values), context=context)
        except ValidationError as error:
            raise invalid_of(error, self.arguments, unnamed) from None
        return {name: getattr(checked, name) for name in type(checked).model_fields}


def requires(
    scope: Scope | None,
    *,
    any_of: tuple[Scope, ...] = (),
    kinds: frozenset[PrincipalKind] = CORE_KINDS,
    gives: Callable[..., Any] | None = None,
    removes: Callable[..., Any] | None = None,
    seals: bool = False,
    makes_child: bool = False,
    repeatable: bool = False,
    fresh: bool = False,
    owners_only: bool = False,
    prepare: Prepare | None = None,
    finish: Finish | None = None,
    largest_body: int = LARGEST_BODY,
    weigh: Callable[..., int] | None = None,
    deprecation: Deprecation | None = None,
    audits: bool = False,
    causes: tuple[ChangeKind, ...] | None = None,
) -> Callable[[Resolver], Resolver]:
    """Declare the scope that a resolver needs, and the kinds of credential that it accepts.

    A scope of None accepts any credential, or with `any_of` those with one of these scopes. `seals` marks a
    secret that is shown once, `makes_child` an `id` of the new resource's parent. `Operation` has the others.
    """

    def declare(resolver: Resolver) -> Resolver:
        resolver.operation = Operation(  # type: ignore[attr-defined]
            resolver,
            scope,
            kinds,
            any_of,
            operation_of(gives) if gives else None,
            operation_of(removes) if removes else None,
            seals=seals,
            makes_child=makes_child,
            repeatable=repeatable,
            fresh=fresh,
            owners_only=owners_only,
            prepare=prepare,
            finish=finish,
            largest_body=largest_body,
            weigh=weigh,
            deprecation=deprecation,
            audits=audits,
            causes=causes,
        )
        return resolver

    return declare


def public(
    why: str,
    *,
    restricted: bool = False,
    deprecation: Deprecation | None = None,
    causes: tuple[ChangeKind, ...] | None = None,
) -> Callable[[Resolver], Resolver]:
    """Declare that a resolver needs no credential, and why."""

    def declare(resolver: Resolver) -> Resolver:
        operation = Operation(
            resolver,
            None,
            frozenset(),
            why_public=why,
            restricted=restricted,
            deprecation=deprecation,
            causes=causes,
        )
        resolver.operation = operation  # type: ignore[attr-defined]
        return resolver

    return declare


def operation_of(resolver: Callable[..., Any]) -> Operation:
    """The declaration of a resolver. Raises `TypeError` without one: it must not be published."""
    operation: Operation | None = getattr(resolver, "operation", None)
    if operation is None:
        raise TypeError(
            f"{resolver.__module__}.{resolver.__name__} declares neither a scope nor that it is public."
        )
    return operation
