"""JSON that grows: values drawn from a grammar, written at any size."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Make = Callable[[int], Any]


@dataclass(frozen=True)
class Value:
    """JSON by its size; `says` tells what grows in it."""

    says: str
    make: Make

    def __repr__(self) -> str:
        return self.says


class Raw(str):
    """JSON as text, for what no writer would write."""


_NUMBERS, _TEXTS = (1, -1.5, 10**30, 1e300), ("", "text", "\x00", "\U0001f600")
SCALARS = (*_NUMBERS, True, None, *_TEXTS, {}, [], [[]], {"a": {"b": None}})
EVENTS: tuple[dict[str, Any], ...] = (
    {"name": "opened"},
    {"name": 7},
    {},
    {"name": "a", "metadata": {"bad": None}, "cost": {"amount": "x", "currency": 1}},
    {"name": "a", "timestamp": "never", "customer_id": "x", "share_id": [], "u1": 1, "u2": 2},
    {"name": "a", "cost": {"amount": 1e-300, "currency": "usd"}},
)
HISTORY = {"external_id": "a", "created_at": "2025-01-01T00:00:00Z", "file_size_bytes": 1}


def keys(name: str, item: Any) -> Value:
    return Value(
        f"keys {name}# of {item!r}", lambda size: {f"{name}{number}": item for number in range(size)}
    )


def items(item: Any) -> Value:
    return Value(f"items {item!r}", lambda size: [item] * size)


def nested(opening: str, closing: str, inner: str) -> Value:
    return Value(
        f"nested {opening}{inner}{closing}", lambda size: Raw(opening * size + inner + closing * size)
    )


def text(piece: str) -> Value:
    return Value(f"text of {piece!r}", lambda size: piece * (size * 16))


def number(digits: str) -> Value:
    return Value(f"number of {digits}", lambda size: Raw(digits * (size * 8)))


def blanks(piece: str) -> Value:
    return Value(f"blanks {piece!r}", lambda size: Raw(piece * (size * 16) + "1"))


def escapes(piece: str) -> Value:
    return Value(f"escapes {piece}", lambda size: Raw(f'"{piece * size}"'))


VALUES: st.SearchStrategy[Value] = st.one_of(
    st.builds(keys, st.sampled_from(("k", "k\u00e9" * 20, "price_amount", "")), st.sampled_from(SCALARS)),
    st.builds(items, st.sampled_from((*SCALARS, *EVENTS, {"amount_type": "fixed", "price_amount": -1}))),
    st.builds(
        nested,
        st.sampled_from(("[", '{"a":', '{"metadata":', '[{"a":', '{"prices":[')),
        st.sampled_from(("]", "}", "}]", "]}", "")),
        st.sampled_from(("1", "", "null", '"x"')),
    ),
    st.builds(text, st.sampled_from(("x", "\U0001f600", "\x00", '"', "a@", "é", " "))),
    st.builds(number, st.sampled_from(("9", "1", "1e", "0.", "-"))),
    st.builds(blanks, st.sampled_from((" ", "\n", "\t", ",", "\\"))),
    st.builds(escapes, st.sampled_from(("\\u0000", "\\ud800", "\\n", "\\x", "\\u00e9"))),
)


def write(value: Any) -> str:
    """JSON text; what is `Raw` stands in it as it is."""
    raws: list[str] = []

    def placed(part: Any) -> Any:
        if isinstance(part, Raw):
            raws.append(str(part))
            return f"\ue000{len(raws) - 1}\ue001"
        if isinstance(part, dict):
            return {name: placed(item) for name, item in part.items()}
        return [placed(item) for item in part] if isinstance(part, list) else part

    text_ = json.dumps(placed(value), ensure_ascii=False)
    for index, raw in enumerate(raws):
        text_ = text_.replace(f'"\ue000{index}\ue001"', raw)
    return text_
