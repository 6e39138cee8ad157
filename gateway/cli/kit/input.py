"""Checks arguments of subcommands by the API's models, and looks them up in the database."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from gateway.cli.kit.output import CommandError
from resolvers.accounts.users import find_user
from resolvers.workspaces.administration import find_workspace
from schema.errors import Problem
from schema.kit.base import Input
from schema.kit.problems import problems_of
from storage.engine.connections import Connection
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceRow

Model = TypeVar("Model", bound=Input)


def checked(model: type[Model], **values: Any) -> Model:
    """The values as a `model`. Raises `CommandError` with each problem."""
    try:
        return model(**values)
    except ValidationError as error:
        raise CommandError(sentence_of(problems_of(error))) from None


def sentence_of(problems: Sequence[Problem]) -> str:
    """All problems in one sentence, each after the name of its field."""
    return "; ".join(_explain(problem) for problem in problems) + "."


async def workspace_of(connection: Connection, slug: str) -> WorkspaceRow:
    """The workspace with the slug. Raises `CommandError` if there is none."""
    workspace = await find_workspace(connection, slug)
    if workspace is None:
        raise CommandError(f"There is no workspace with the slug {slug}: see `duograph workspaces list`.")
    return workspace


async def user_of(connection: Connection, email: str) -> UserRow:
    """The user with the address. Raises `CommandError` if there is none."""
    user = await find_user(connection, email)
    if user is None:
        raise CommandError(f"There is no user with the address {email}: use `duograph users create`.")
    return user


def _explain(problem: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in problem["loc"] if part != "data")
    message = str(problem["msg"]).rstrip(".")
    return f"{place}: {message}" if place else message
