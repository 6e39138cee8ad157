"""The pages of customers and of their members."""

from collections.abc import Mapping
from typing import Any

from gateway.web.kit.languages import NAMES
from gateway.web.records.kit.cells import Cell, Column, Shown
from gateway.web.records.kit.fields import Words
from gateway.web.records.kit.figures import FIGURES, LAST_SEEN
from gateway.web.records.kit.records import Parent, Records, Related, Step, Strand, Task
from gateway.web.words.portal import COUNTRIES
from resolvers.customers.customers import (
    create_customer,
    delete_customer,
    get_customer,
    list_customers,
    update_customer,
)
from resolvers.customers.members import create_member, delete_member, get_member, list_members, update_member
from resolvers.customers.sessions import create_customer_session
from schema.customers.customers import Customer
from schema.customers.members import Member
from schema.workspaces.workspaces import Workspace
from storage.enums import CustomerType, MemberRole

WORDS = {
    "email": Words(
        hint="The customer signs in to the portal with it. No two customers can have the same one."
    ),
    "type": Words(required=True, hint="A team has members, each with a sign-in of their own."),
    "external_id": Words(hint="The customer's id in your system. It cannot be changed once set."),
    "billing_address": Words("Billing address", hint=""),
    "billing_address.line1": Words("Line 1", hint=""),
    "billing_address.line2": Words("Line 2", hint=""),
    "billing_address.state": Words("State", hint=""),
    "billing_address.country": Words("Country", hint="", options=COUNTRIES[1:]),
    "language": Words(
        hint="The language of the portal and its emails. Customers can choose another one there.",
        options=tuple((language.value, name) for language, name in NAMES.items()),
    ),
    "metadata": Words(hint="Your own keys and values. Customers do not see them."),
}
MEMBER_WORDS = {
    "customer_id": Words(fixed=True),
    "email": Words(hint="Unique among the customer's members."),
    "external_id": Words(hint="The member's id in your system."),
    "role": Words(required=True, hint="A team has one owner. A new owner replaces the current one."),
}


def _name(person: Customer | Member, _: Shown) -> Cell:
    return Cell("text", called(person))


def _words(text: str) -> Column:
    return Column("", draw=lambda record, shown: Cell("text", text))


def called(person: Customer | Member) -> str:
    return str(person.name or person.email)


def _kept(data: dict[str, Any], current: Mapping[str, Any] | None) -> dict[str, Any]:
    """An external id that is set stays: the API refuses every other value, null included."""
    if current is not None and current.get("external_id") and data.get("external_id") is None:
        return {**data, "external_id": current["external_id"]}
    return data


def _of_customer(data: dict[str, Any], current: Mapping[str, Any] | None) -> dict[str, Any]:
    return data if current is None else {**data, "customer_id": current["id"]}


def _individual(_: Workspace, __: Any) -> Mapping[str, Any]:
    return {"type": CustomerType.INDIVIDUAL.value}


def _member(_: Workspace, __: Any) -> Mapping[str, Any]:
    return {"role": MemberRole.MEMBER.value}


CUSTOMERS = Records(
    area="Customers",
    path="customers",
    one="customer",
    many="customers",
    about="The people and teams you do business with.",
    empty="Customers appear when your system reports them. You can also add one here.",
    model=Customer,
    find=list_customers,
    get=get_customer,
    called=called,
    columns=(
        Column("name", draw=_name),
        Column("email"),
        *FIGURES,
        LAST_SEEN,
        Column("created_at"),
    ),
    hidden=frozenset({"members", "avatar_url", "deleted_at"}),
    main_filters=("query",),
    filter_words={
        "query": Words("Name, email or external ID", hint=""),
        "email": Words(hint=""),
        "metadata": Words(hint="A key with the value that it has."),
    },
    without_filters=frozenset({"id"}),
    create=Task(
        create_customer,
        "Create customer",
        "Customer created.",
        heading="New customer",
        words=WORDS,
        without=frozenset({"owner"}),
        starts_with=_individual,
    ),
    change=Task(
        update_customer,
        "Save customer",
        "Customer saved.",
        heading="Edit customer",
        words=WORDS,
        adjust=_kept,
    ),
    tasks={
        "portal-link": Task(
            create_customer_session,
            "Create link",
            "Portal link",
            heading="Portal link",
            about="A link that signs the customer in to the portal for an hour. Send it only to them.",
            words={
                "return_url": Words(
                    "Back button leads to",
                    hint="Your page behind the portal's Back button, such as https://shop.example/account.",
                )
            },
            without=frozenset({"customer_id", "external_customer_id", "member_id", "external_member_id"}),
            adjust=_of_customer,
            shows=lambda session: str(session.customer_portal_url),
        )
    },
    steps=(
        Step(
            "delete",
            "Delete",
            "The customer and its members are deleted and signed out. Sessions, payments and events stay.",
            "Delete customer",
            "Customer deleted.",
            delete_customer,
            leads_to_list=True,
        ),
        Step(
            "anonymize",
            "Delete and anonymize",
            "The customer is deleted, and names, emails and addresses are overwritten in its events.",
            "Delete and anonymize customer",
            "Customer deleted and anonymized.",
            delete_customer,
            arguments={"anonymize": True},
            leads_to_list=True,
        ),
    ),
    measured_by="customer_id",
    related=(Related("customer-members", "customer_id", "Members", can_create=True),),
    timeline=(
        Strand("sessions", "customer_id", "Sessions", at="created_at", says=_words("Opened")),
        Strand("downloads", "customer_id", "Downloads", at="at", says=_words("Downloaded")),
        Strand("payments", "customer_id", "Payments", at="at", says=_words("Paid"), amount=Column("amount")),
        Strand(
            "refunds", "customer_id", "Refunds", at="at", says=_words("Refunded"), amount=Column("amount")
        ),
        Strand("events", "customer_id", "Events", at="timestamp", says=Column("label")),
    ),
)
MEMBERS = Records(
    area="Customers",
    path="customer-members",
    one="member",
    many="members",
    about="",
    empty="",
    model=Member,
    find=list_members,
    get=get_member,
    called=called,
    columns=(Column("name", draw=_name), Column("email"), Column("role"), Column("created_at")),
    parent=Parent("customers", "customer_id", "Customer"),
    create=Task(
        create_member,
        "Add member",
        "Member added.",
        heading="New member",
        words=MEMBER_WORDS,
        starts_with=_member,
        applies=lambda customer: customer.type is CustomerType.TEAM,
    ),
    change=Task(update_member, "Save member", "Member saved.", heading="Edit member", words=MEMBER_WORDS),
    steps=(
        Step(
            "delete",
            "Remove",
            "The member can no longer act for the customer and is signed out.",
            "Remove member",
            "Member removed.",
            delete_member,
            applies=lambda member: member.role is not MemberRole.OWNER,
        ),
    ),
)
