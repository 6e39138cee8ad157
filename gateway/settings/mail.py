"""Settings of mail: the server, the sender, and how many emails are sent."""

from typing import Annotated

from pydantic import BaseModel, Field

from gateway.settings.values.mail_addresses import Sender, SmtpUrl


class MailSettings(BaseModel):
    """Mail"""

    smtp_url: Annotated[
        SmtpUrl | None,
        Field(
            description="`smtp://USER:PASSWORD@HOST:PORT`, encrypted if the server supports STARTTLS, or "
            "`smtps://`. Without it, emails are written to files in `DUOGRAPH_OUTBOX`."
        ),
    ] = None
    outbox: Annotated[
        str, Field(description="The directory for emails if `DUOGRAPH_SMTP_URL` is not set.")
    ] = "var/outbox"
    mail_from: Annotated[Sender, Field(description="The sender: an address, or `NAME <ADDRESS>`.")] = (
        "Duograph <duograph@localhost>"
    )
    mail_rate: Annotated[int, Field(ge=1, description="Emails that each process sends in any minute.")] = 300
    mail_limit_recipient: Annotated[
        int,
        Field(
            ge=0,
            description="Emails to one address on behalf of workspaces in any hour, and as many with codes; "
            "0 for no limit.",
        ),
    ] = 20
    mail_limit_workspace: Annotated[
        int,
        Field(
            ge=0,
            description="Emails on behalf of one workspace in any hour, except to its members; 0 for no "
            "limit.",
        ),
    ] = 1000
    invitation_limit: Annotated[
        int,
        Field(
            ge=0,
            description="Invitations to people outside that one workspace sends in any 24 hours; 0 for no "
            "limit.",
        ),
    ] = 50
    mail_limit_user: Annotated[
        int,
        Field(
            ge=0,
            description="Emails caused by one user in any hour, by their session or any of their tokens; 0 "
            "for no limit.",
        ),
    ] = 1000
