"""Random histories of a workspace, through the public operations."""

import contextlib
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

from tests.support.callers.surfaces import Refused
from tests.support.tenants.uploads import new_file, upload_file


class History:
    """Random changes through the public operations, of everything that is counted."""

    def __init__(self, rest, seed):
        self.rest, self.random = rest, Random(seed)
        self.ids = {kind: [] for kind in ("share", "field", "customer", "team", "member", "session", "file")}

    async def step(self):
        """One random change; those that are refused roll back."""
        change = self.random.choice([name for name in dir(self) if name.startswith("do_")])
        with contextlib.suppress(Refused):
            await getattr(self, change)()
        return change

    def any(self, kind):
        return self.random.choice(self.ids[kind] or [str(UUID(int=1))])

    def some(self, kind):
        return self.any(kind) if self.random.random() < 0.7 and self.ids[kind] else None

    async def do_create_a_share(self):
        data = {"name": "Mix", "prices": [{"amount_type": "free"}], "visibility": self._visibility()}
        data |= {"description": self._text(), "metadata": self._metadata()}
        self.ids["share"].append((await self.rest.create_share(data=data))["id"])

    async def do_change_a_share(self):
        data = {"visibility": self._visibility(), "is_archived": self.random.random() < 0.5}
        data |= {"description": self._text(), "metadata": self._metadata()}
        await self.rest.update_share(id=self.any("share"), data=data)

    async def do_delete_a_share(self):
        await self.rest.delete_share(id=self.any("share"))

    async def do_create_a_field(self):
        data = {"type": "text", "slug": f"f{self.random.randrange(9)}", "name": "Size"}
        data |= {"metadata": self._metadata(), "properties": {"form_label": self._text()}}
        self.ids["field"].append((await self.rest.create_custom_field(data=data))["id"])

    async def do_change_a_field(self):
        data = {"type": "text", "properties": {"form_help_text": self._text()}}
        await self.rest.update_custom_field(id=self.any("field"), data=data)

    async def do_delete_a_field(self):
        await self.rest.delete_custom_field(id=self.any("field"))

    async def do_create_a_customer(self):
        type = self.random.choice(["individual", "team"])
        data = {"email": f"{self.random.randrange(20)}@example.com", "type": type}
        data |= {"metadata": self._metadata(), "billing_address": {"country": "FR", "line1": self._text()}}
        id = (await self.rest.create_customer(data=data))["id"]
        self.ids["customer"].append(id)
        if type == "team":
            self.ids["team"].append(id)

    async def do_change_a_customer(self):
        data = {"email": f"{self.random.randrange(20)}@example.com", "type": "team"}
        data |= {"metadata": self._metadata()}
        await self.rest.update_customer(id=self.any("customer"), data=data)

    async def do_delete_a_customer(self):
        await self.rest.delete_customer(id=self.any("customer"), anonymize=self.random.random() < 0.5)

    async def do_create_a_member(self):
        email, role = f"{self.random.randrange(9)}@example.com", self.random.choice(["owner", "member"])
        data = {"customer_id": self.any("team"), "email": email, "role": role}
        self.ids["member"].append((await self.rest.create_member(data=data))["id"])

    async def do_delete_a_member(self):
        await self.rest.delete_member(id=self.any("member"))

    async def do_begin_a_session(self):
        data = {
            "share_id": self.some("share"),
            "customer_id": self.some("customer"),
            "file_size_bytes": 7,
            "external_id": self.random.choice([None, *"abc"]),
        }
        self.ids["session"].append((await self.rest.create_file_share_session(data=data))["id"])

    async def do_download(self):
        await self.rest.record_download(id=self.any("session"), data={})

    async def do_pay_and_refund(self):
        data = {"amount": 2, "currency": self.random.choice(["usd", "eur"])}
        payment = await self.rest.record_payment(id=self.any("session"), data=data)
        await self.rest.refund_payment(id=payment["id"], data={"amount": 1})

    async def do_end_a_session(self):
        end = self.random.choice([self.rest.complete_file_share_session, self.rest.expire_file_share_session])
        await end(id=self.any("session"), data={})

    async def do_report_histories(self):
        begun = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
        sessions = [
            {
                "external_id": self.random.choice("abcdefgh"),
                "created_at": begun.isoformat(),
                "file_size_bytes": 7,
                "share_id": self.some("share"),
                "downloads": [(begun + timedelta(minutes=1)).isoformat()],
                "payments": [
                    {
                        "amount": 5,
                        "currency": "jpy",
                        "at": begun.isoformat(),
                        "refunds": [{"amount": 5, "at": begun.isoformat()}],
                    }
                ],
            }
            for _ in range(self.random.randint(1, 5))
        ]
        await self.rest.ingest_file_share_sessions(data={"sessions": sessions})

    async def do_ingest(self):
        events = [
            {
                "name": f"page.{self.random.randrange(4)}",
                "external_id": self.random.choice([None, *"abcdef"]),
                "customer_id": self.some("customer"),
                "metadata": self._metadata(),
                "timestamp": f"2026-01-{self.random.randint(10, 31)}T09:30:00Z",
            }
            for _ in range(self.random.randint(1, 20))
        ]
        await self.rest.ingest_events(data={"events": events})

    async def do_create_a_file(self):
        service = self.random.choice(["downloadable", "product_media"])
        self.ids["file"].append((await self.rest.create_file(data=new_file(service=service)))["id"])

    async def do_upload_a_file(self):
        self.ids["file"].append((await upload_file(self.rest))["id"])

    async def do_delete_a_file(self):
        await self.rest.delete_file(id=self.any("file"))

    def _visibility(self):
        return self.random.choice(["public", "private", "draft"])

    def _text(self):
        return self.random.choice(["plain", "naïve café", "語" * 9, "\U0001f600", '"quoted" \\'])

    def _metadata(self):
        # Addresses are among what an anonymized customer loses in its events.
        address = f"{self.random.randrange(20)}@example.com"
        values = [self._text(), address, 7, -0.5, 1e22, True]
        return {f"key {place}": self.random.choice(values) for place in range(self.random.randint(0, 3))}
