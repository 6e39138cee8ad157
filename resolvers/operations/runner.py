"""Running operations: a change in one transaction, with its preconditions, retries and refusals."""

from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from resolvers.operations import idempotency
from resolvers.operations.context import Context
from resolvers.operations.declaration import Finish, Operation
from resolvers.operations.http.etags import is_well_formed, matches_strongly, matches_weakly
from resolvers.operations.security_events import audited
from resolvers.operations.shapes.shaped import ShapedRow
from schema.errors import Invalid, PreconditionFailed, problem
from schema.kit.base import Update
from storage.rows.duplicates import taken_fields
from storage.rows.rows import Duplicate

ATTEMPTS = 3


def run(operation: Operation, ctx: Context, arguments: Mapping[str, Any]) -> Awaitable[Any]:
    """The operation's result; both surfaces call this."""
    if operation.owners_only or operation.causes is not None:
        ctx = replace(ctx, owners_only=operation.owners_only, causes=operation.causes)
    if operation.changes:
        result: Awaitable[Any] = _change(operation, ctx, arguments)
    else:
        result = operation.resolver(ctx, **arguments)
    if operation.finish is not None:
        result = _finish(operation.finish, ctx, result)
    if operation.is_audited and not ctx.caller.is_operator:
        result = audited(operation, ctx.caller, arguments, result)
    watch = ctx.caller.watch
    return result if watch is None else watch.operation(operation.name, result)


async def _finish(finish: Finish, ctx: Context, result: Awaitable[Any]) -> Any:
    return await finish(ctx, await result)


async def _change(operation: Operation, ctx: Context, arguments: Mapping[str, Any]) -> Any:
    """The result of a change.

    A change that violates a unique or foreign key is rolled back and refused with the fields in conflict. If
    none is found, the conflicting row has gone in the meantime, and the change is retried.
    """
    attempts = 0
    while True:
        try:
            return await _attempt(operation, ctx, arguments)
        except Duplicate as duplicate:
            async with ctx.read() as connection:
                fields = await taken_fields(connection, duplicate)
            if fields:
                raise Invalid([_taken(field, duplicate.values.get(field)) for field in fields]) from None
            attempts += 1
            if attempts == ATTEMPTS:
                raise


async def _attempt(operation: Operation, ctx: Context, arguments: Mapping[str, Any]) -> Any:
    async with _prepared(operation, ctx, arguments) as ready, ready.change() as change:
        if ctx.caller.idempotency_key is not None:
            kept = await idempotency.find(change, operation, arguments)
            if kept is not None:
                return await idempotency.replay(change, operation, kept)
        result = await operation.resolver(_with_precondition(operation, change, arguments), **arguments)
        if ctx.caller.idempotency_key is not None:
            await idempotency.keep(change, operation, arguments, result)
        return result


@asynccontextmanager
async def _prepared(
    operation: Operation, ctx: Context, arguments: Mapping[str, Any]
) -> AsyncIterator[Context]:
    """The context inside the operation's `prepare`, which is not entered for a retry."""
    if operation.prepare is None or await _is_retry(operation, ctx, arguments):
        yield ctx
        return
    unlocked = _with_precondition(operation, ctx, arguments)
    async with operation.prepare(unlocked, **arguments) as prepared:
        yield replace(ctx, prepared=prepared)


async def _is_retry(operation: Operation, ctx: Context, arguments: Mapping[str, Any]) -> bool:
    if ctx.caller.idempotency_key is None:
        return False
    async with ctx.change() as change:
        return await idempotency.find(change, operation, arguments) is not None


def _with_precondition(operation: Operation, change: Context, arguments: Mapping[str, Any]) -> Context:
    """The change with a precondition on the resource once it is locked.

    It compares `If-Match`, and the fields of the body that cannot change.
    """
    read, data = operation.compared, arguments.get("data")
    repeated = data.repeated if isinstance(data, Update) else ()
    if read is None or (change.if_match is None and not repeated):
        return change

    async def compare() -> None:
        names = {parameter.name for parameter in read.parameters}
        current = await read.resolver(change, **{k: v for k, v in arguments.items() if k in names})
        if change.if_match is not None:
            _match(change.if_match, current.etag_text())
        if repeated:
            written = current.written() if isinstance(current, ShapedRow) else current.model_dump(mode="json")
            if any(each.is_stale(written) for each in repeated):
                raise PreconditionFailed(
                    "What you sent is stale: the resource was changed after the `modified_at` in it. Read it "
                    "again and repeat your change."
                )
            problems = [entry for each in repeated for entry in each.problems(written)]
            if problems:
                raise Invalid(problems)

    return replace(change, precondition=compare)


def _match(if_match: str, etag: str) -> None:
    """Raises `Invalid` for what is no list of entity tags, and `PreconditionFailed` if none is this one."""
    if not is_well_formed(if_match):
        message = f"An entity tag stands in double quotes, as {etag} does; `*` stands for any"
        raise Invalid([problem(("if_match",), message, "entity_tag", input=if_match)])
    if matches_strongly(if_match, etag):
        return
    if matches_weakly(if_match, etag):
        raise PreconditionFailed(
            f"This tag is weak, and a weak tag does not show that nothing has changed. A proxy that "
            f"compresses answers may have made it weak: send {etag}."
        )
    raise PreconditionFailed(
        "The resource has changed since you read it: read it again and repeat your change."
    )


def _taken(field: str, value: Any) -> dict[str, Any]:
    message = f"This {field.replace('_', ' ')} is already in use"
    return problem(("data", field), message, "duplicate", input=value)
