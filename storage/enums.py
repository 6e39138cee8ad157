"""The enumerations that both the tables and the API vocabulary use."""

from enum import StrEnum


class Currency(StrEnum):
    """The ten presentment currencies, ISO 4217 in lower case."""

    AUD = "aud"
    BRL = "brl"
    CAD = "cad"
    CHF = "chf"
    EUR = "eur"
    INR = "inr"
    GBP = "gbp"
    JPY = "jpy"
    SEK = "sek"
    USD = "usd"

    @property
    def exponent(self) -> int:
        """The decimal places of its amounts: a minor unit is 10 to the minus this many units."""
        return 0 if self is Currency.JPY else 2


class Language(StrEnum):
    """The languages of the portal, of the sign-in and of all emails, ISO 639-1."""

    DE = "de"
    EN = "en"
    ES = "es"
    FR = "fr"
    JA = "ja"
    PT = "pt"


class WorkspaceStatus(StrEnum):
    CREATED = "created"
    ONBOARDING_STARTED = "onboarding_started"
    INITIAL_REVIEW = "initial_review"
    ONGOING_REVIEW = "ongoing_review"
    DENIED = "denied"
    ACTIVE = "active"


class Visibility(StrEnum):
    DRAFT = "draft"
    PRIVATE = "private"
    PUBLIC = "public"


class PriceAmountType(StrEnum):
    FIXED = "fixed"
    CUSTOM = "custom"
    FREE = "free"


class CustomFieldType(StrEnum):
    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    CHECKBOX = "checkbox"
    SELECT = "select"


class CustomerType(StrEnum):
    INDIVIDUAL = "individual"
    TEAM = "team"


class WorkspaceRole(StrEnum):
    """A user's role in a workspace: owners also manage members and other access to it."""

    OWNER = "owner"
    MEMBER = "member"


class MemberRole(StrEnum):
    OWNER = "owner"
    BILLING_MANAGER = "billing_manager"
    MEMBER = "member"


class FileService(StrEnum):
    """What a file is for, which decides its size limit and whether it has a public address."""

    DOWNLOADABLE = "downloadable"
    PRODUCT_MEDIA = "product_media"
    WORKSPACE_AVATAR = "workspace_avatar"


class EventSource(StrEnum):
    SYSTEM = "system"
    USER = "user"


class CredentialKind(StrEnum):
    """The middle part of a credential's text, `dg_<kind>_...`; a test workspace's tokens have `test`."""

    WORKSPACE_TOKEN = "wat"  # noqa: S105
    PERSONAL_TOKEN = "pat"  # noqa: S105
    CUSTOMER_SESSION = "cst"
    ACCESS_TOKEN = "at"  # noqa: S105
    REFRESH_TOKEN = "rt"  # noqa: S105
    AUTHORIZATION_CODE = "ac"
    CLIENT_SECRET = "cs"  # noqa: S105
    REGISTRATION_TOKEN = "crt"  # noqa: S105
    BROWSER_SESSION = "us"


class LinkPurpose(StrEnum):
    """The purpose of a link that was emailed to a user."""

    ADDRESS = "address"
    NEW_ADDRESS = "new_address"
    PASSWORD = "password"  # noqa: S105


class FileShareSessionStatus(StrEnum):
    CREATED = "created"
    ACTIVE = "active"
    COMPLETED = "completed"
    EXPIRED = "expired"


class DocumentMode(StrEnum):
    """What happens to GraphQL documents that an OAuth client sends without having registered them."""

    OFF = "off"
    REPORT = "report"
    ENFORCE = "enforce"


class ClientKind(StrEnum):
    """The kinds of clients that usage is counted for."""

    OAUTH_CLIENT = "oauth_client"
    WORKSPACE_TOKEN = "workspace_token"  # noqa: S105
    CUSTOMER_SESSIONS = "customer_sessions"
    OTHERS = "others"


class UsageSurface(StrEnum):
    REST = "rest"
    GRAPHQL = "graphql"


class UsageKind(StrEnum):
    """The kinds of parts of a contract. A query parameter of REST is an argument."""

    OPERATION = "operation"
    FIELD = "field"
    ARGUMENT = "argument"
    INPUT_FIELD = "input_field"


class DeletedResource(StrEnum):
    """The kinds of resources whose deletion is recorded."""

    CUSTOMER = "customer"
    MEMBER = "member"
    CUSTOM_FIELD = "custom_field"
    FILE = "file"
    WORKSPACE_MEMBER = "workspace_member"


class DeliveryStatus(StrEnum):
    """What became of a change that an endpoint is told: `skipped` is never sent."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"


class ActorKind(StrEnum):
    """Who can make a change: `system` is the service itself."""

    USER = "user"
    WORKSPACE_TOKEN = "workspace_token"  # noqa: S105
    OAUTH_CLIENT = "oauth_client"
    CUSTOMER = "customer"
    OPERATOR = "operator"
    SYSTEM = "system"


class FactKind(StrEnum):
    """What a fact in the log of metrics reports; each has its own moment."""

    FREE_SESSION = "free_session"
    PRICED_SESSION = "priced_session"
    CONVERSION = "conversion"
    DOWNLOAD = "download"
    ACTIVATION = "activation"
    DEACTIVATION = "deactivation"
    COMPLETION = "completion"
    EXPIRY = "expiry"
    PAYMENT = "payment"
    REFUND = "refund"
    EVENT = "event"
    COST = "cost"
