"""Backfill: batches of complete histories of file-share sessions, all or nothing."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from oauth.scopes import Scope
from resolvers.file_shares.histories import History, insert_file_share_sessions, insert_steps
from resolvers.file_shares.opening import Opening, open_file_share_sessions, rows_by_external_id
from resolvers.operations.context import Context
from resolvers.operations.declaration import LARGEST_BATCH, requires
from resolvers.operations.rows.lookups import workspace_for
from schema.errors import Invalid, Problem, problem
from schema.file_shares.backfill import (
    FileShareSessionHistory,
    FileShareSessionIngest,
    FileShareSessionIngestResult,
)
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.tables.shares.file_share_sessions import (
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)


@requires(
    Scope.FILE_SHARE_SESSIONS_WRITE,
    largest_body=LARGEST_BATCH,
    causes=(ChangeKind.FILE_SHARE_SESSIONS_INGESTED,),
)
async def ingest_file_share_sessions(
    ctx: Context, data: FileShareSessionIngest
) -> FileShareSessionIngestResult:
    """Imports complete histories of sessions: the whole batch, or nothing if one of them is invalid.

    A session whose external id exists already, or occurs earlier in the batch, is a duplicate and changes
    nothing. A payment or refund whose external id exists already is refused: it belongs to another session.
    """
    workspace_id = await workspace_for(ctx, data.workspace_id)
    external_ids = {history.external_id for history in data.sessions}
    existing = await _ids(ctx, workspace_id, external_ids)
    new = _new_histories(data.sessions, set(existing))
    clock = now()
    openings = [Opening(history, ("data", "sessions", index)) for index, history in new]
    rows, problems = await open_file_share_sessions(ctx, workspace_id, openings, clock)
    histories = [History(row, clock) for row in rows]
    for opening, history, (_, sent) in zip(openings, histories, new, strict=True):
        history.add(sent, opening.loc)
        problems += history.problems
    if problems:
        raise _refusal([*problems, *await _check_external_ids(ctx, workspace_id, histories)])
    inserted = await insert_file_share_sessions(ctx.connection, histories)
    # Checked only now, so that rows of a concurrent copy of this batch are no problems of it.
    problems = await _check_external_ids(ctx, workspace_id, inserted)
    if problems:
        raise _refusal(problems)
    await insert_steps(ctx.connection, inserted)
    ids = existing | {history.session.external_id: history.session.id for history in inserted}
    if len(inserted) < len(histories):  # Another request has just stored some of them.
        ids |= await _ids(ctx, workspace_id, external_ids)
    return FileShareSessionIngestResult(
        inserted=len(inserted),
        duplicates=len(data.sessions) - len(inserted),
        ids=[ids[history.external_id] for history in data.sessions],
    )


async def _ids(ctx: Context, workspace_id: UUID, external_ids: Iterable[str]) -> dict[str | None, UUID]:
    """The ids of the sessions that the workspace has, by external id."""
    rows = await rows_by_external_id(ctx, FileShareSessionRow, workspace_id, external_ids)
    return {external_id: row.id for external_id, row in rows.items()}


def _new_histories(
    histories: Sequence[FileShareSessionHistory], seen: set[str | None]
) -> list[tuple[int, FileShareSessionHistory]]:
    """The histories that are not duplicates, each with its place in the batch."""
    new = []
    for index, history in enumerate(histories):
        if history.external_id not in seen:
            seen.add(history.external_id)
            new.append((index, history))
    return new


async def _check_external_ids(
    ctx: Context, workspace_id: UUID, histories: Sequence[History]
) -> list[Problem]:
    """The problems of payments and refunds whose external id is in use, each with its location."""
    payments = [place for history in histories for place in history.payment_places]
    refunds = [place for history in histories for place in history.refund_places]
    problems = []
    for model, places in ((FileSharePaymentRow, payments), (FileShareRefundRow, refunds)):
        used_ids = set(
            await rows_by_external_id(ctx, model, workspace_id, {external_id for external_id, _ in places})
        )
        for external_id, loc in places:
            if external_id in used_ids:
                message = "This external id is already in use"
                problems.append(problem(loc, message, "duplicate", input=external_id))
            used_ids.add(external_id)
    return problems


def _refusal(problems: Sequence[Problem]) -> Invalid:
    """The problems in the order of the batch."""
    return Invalid(sorted(problems, key=lambda entry: int(entry["loc"][2])))
