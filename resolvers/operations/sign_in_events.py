"""Lines of the log about sign-ins, with ids of ours only; the request id leads to the line of the request."""

from uuid import UUID

import structlog

log = structlog.get_logger()


def note_sign_in(user_id: UUID) -> None:
    log.info("signed in", user=str(user_id))


def note_refusal(proof: str, user_id: UUID | None = None, *, workspace_id: UUID | None = None) -> None:
    """A wrong proof, or one that was not judged because too many were wrong: `proof` is its kind.

    Without the user, nobody has the address that was entered.
    """
    ids = {"user": user_id, "workspace": workspace_id}
    log.info("sign-in refused", proof=proof, **{name: str(id) for name, id in ids.items() if id is not None})
