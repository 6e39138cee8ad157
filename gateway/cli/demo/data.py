"""The data of the demo workspace, as callers would send it."""

from collections.abc import Mapping
from typing import Any

Data = Mapping[str, Any]

# Its activity: file-share sessions, spread over so many days.
SESSIONS, DAYS = 2_000, 90

WORKSPACE: Data = {
    "name": "Harbour Prints",
    "email": "hello@example.com",
    "website": "https://example.com",
    "feature_settings": {"member_model_enabled": True, "analytics_compare": True},
}
CUSTOM_FIELDS: tuple[Data, ...] = (
    {
        "type": "text",
        "slug": "dedication",
        "name": "Dedication",
        "properties": {"form_label": "Who is it for?", "max_length": 80},
    },
    {
        "type": "select",
        "slug": "paper",
        "name": "Paper",
        "properties": {
            "options": [{"value": "matte", "label": "Matte"}, {"value": "gloss", "label": "Gloss"}],
        },
    },
)


def _print(name: str, description: str, amount: int, currency: str = "usd") -> Data:
    """A picture to print, at one price."""
    price = {"amount_type": "fixed", "price_amount": amount, "price_currency": currency}
    return {"name": name, "description": description, "prices": [price], "metadata": {"collection": "coast"}}


# `custom_fields` lists the custom fields in the share's form.
SHARES: tuple[Data, ...] = (
    {
        "name": "Lighthouse poster",
        "description": "Forty by sixty, ready to print.",
        "prices": [{"amount_type": "fixed", "price_amount": 2500, "price_currency": "usd"}],
        "metadata": {"collection": "coast", "year": 2026},
        "custom_fields": ("dedication", "paper"),
    },
    {
        "name": "Wallpapers of the tides",
        "description": "Three pictures for screens, by day, dusk and night.",
        "prices": [{"amount_type": "free"}],
        "metadata": {"collection": "coast"},
    },
    {
        "name": "Sea sounds",
        "description": "Waves on a beach: pay what you like.",
        "prices": [
            {
                "amount_type": "custom",
                "price_currency": "usd",
                "minimum_amount": 300,
                "preset_amount": 800,
                "maximum_amount": 5000,
            }
        ],
    },
    _print("Winter almanac", "Twelve months of the coast, with tides and moons.", 1800, "eur"),
    _print("Dunes at dawn", "Thirty by forty, on warm paper.", 1200),
    _print("Storm at Whitby", "Sixty by ninety: the sea at its loudest.", 3000),
    _print("Harbour in the rain", "Thirty by forty, in greys and blues.", 1200),
    _print("First snow on the beach", "Forty by sixty, ready to print.", 2500),
    _print("Moonlit bay", "Forty by sixty, ready to print.", 2500),
    _print("Evening ferry", "The last crossing of the day, as a postcard.", 400),
    _print("Salt marsh", "Thirty by forty, in spring greens.", 1500, "eur"),
    {
        **_print("Northern lights", "Sixty by ninety. It comes out with the first frost.", 3200),
        "visibility": "draft",
    },
)
# Each customer with its members other than the owner.
CUSTOMERS: tuple[tuple[Data, tuple[Data, ...]], ...] = (
    (
        {
            "email": "mina@example.com",
            "name": "Mina Okafor",
            "external_id": "reader-1001",
            "billing_address": {"country": "GB", "city": "Whitby"},
            "metadata": {"newsletter": True},
        },
        (),
    ),
    ({"email": "jonas@example.com", "name": "Jonas Lind"}, ()),
    (
        {
            "email": "office@studio.example.com",
            "name": "Studio Nord",
            "external_id": "studio-7",
            "type": "team",
            "billing_address": {"country": "SE", "city": "Malmö"},
        },
        (
            {"email": "ines@studio.example.com", "name": "Ines Berg", "role": "billing_manager"},
            {"email": "tarik@studio.example.com", "name": "Tarik Aydin"},
        ),
    ),
)

# Names for the customers that `writer.py` makes up.
FIRST_NAMES = (
    *("Aiko", "Amara", "Anders", "Astrid", "Bruno", "Camille", "Carlos", "Chiara", "Dana", "David"),
    *("Elif", "Emil", "Esther", "Farah", "Felix", "Greta", "Hana", "Henrik", "Ingrid", "Ivo"),
    *("Jamal", "Johanna", "Kavya", "Kofi", "Lea", "Liam", "Lucia", "Magnus", "Maya", "Mateo"),
    *("Nadia", "Niklas", "Noor", "Olga", "Oscar", "Paula", "Priya", "Rafael", "Rosa", "Sanjay"),
    *("Selma", "Sofia", "Takumi", "Tessa", "Tomas", "Uma", "Vera", "Wanda", "Yusuf", "Zoe"),
)
LAST_NAMES = (
    *("Abe", "Almeida", "Andersen", "Bauer", "Becker", "Bianchi", "Carter", "Costa", "Dubois", "Eriksen"),
    *("Ferrari", "Fischer", "Garcia", "Gupta", "Haas", "Hassan", "Ito", "Jansen", "Kaya", "Keller"),
    *("Kim", "Kowalski", "Larsen", "Lopez", "Mensah", "Meyer", "Moreau", "Nakamura", "Novak", "Okeke"),
    *("Olsen", "Patel", "Petrov", "Rossi", "Santos", "Sharma", "Silva", "Singh", "Suzuki", "Tanaka"),
    *("Torres", "Ueda", "Virtanen", "Wagner", "Walker", "Weber", "Wilson", "Yilmaz", "Young", "Zhang"),
    "Zimmer",
)
