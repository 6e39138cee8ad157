"""GraphQL documents that grow: drawn from a grammar, written at any size."""

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

FIELDS = (
    "__typename",
    "nothing",
    "shares { data { id name prices { priceAmount } } }",
    "shares(limit: 100) { data { workspace { name } } meta { total } }",
    "viewer { workspaces { id } }",
    'share(id: "00000000-0000-4000-8000-000000000000") { name }',
    "__schema { types { name } }",
    "__schema { types { name fields { name args { name type { name ofType { name } } } } } }",
    '__type(name: "Share") { fields { name } }',
    "portal { customer { name } }",
)
TYPES = ("Query", "Share", "__Schema", "Mutation", "Nothing")
DIRECTIVES = ("@include(if: true)", "@skip(if: false)", "@include(if: $v)", "@nothing", "@skip")
LEAVES = ("...missing", "...f0", "__typename", "shares { meta { total } }", "nothing")


@dataclass(frozen=True)
class Document:
    """A document by its size; `says` tells what grows in it."""

    says: str
    write: Callable[[int], str]

    def __repr__(self) -> str:
        return self.says


def repeated(field: str, directive: str, *, aliased: bool) -> Document:
    def write(size: int) -> str:
        names = (f"a{number}: " if aliased else "" for number in range(size))
        head, _, below = field.partition(" ")
        return "{ " + " ".join(f"{name}{head} {directive} {below}" for name in names) + " }"

    return Document(f"repeated {field!r} {directive} aliased={aliased}", write)


def nested(opening: str, inner: str) -> Document:
    def write(size: int) -> str:
        return "{ " + opening * size + inner + " }" * size + " }"

    return Document(f"nested {opening!r} around {inner!r}", write)


def chain(width: int, owner: str, leaf: str, *, reaches_all: bool) -> Document:
    """Fragments that each spread the next `width` times, or each all others."""

    def write(size: int) -> str:
        count = min(size, 40) if reaches_all else size
        fragments = []
        for number in range(count):
            below = range(count) if reaches_all else [number + 1] * width
            spread = " ".join(f"...f{other}" for other in below if other != number)
            fragments.append(f"fragment f{number} on {owner} {{ {spread} }}")
        return f"{{ ...f0 }} {' '.join(fragments)} fragment f{count} on {owner} {{ {leaf} }}"

    return Document(f"fragments of {owner} x{width} to {leaf!r} all={reaches_all}", write)


def chained_fields(field: str, leaf: str) -> Document:
    """Fragments that spread the next one below a field of theirs, twice under different names."""

    def write(size: int) -> str:
        fragments = (
            f"fragment f{number} on Query "
            f"{{ a: {field} {{ ...f{number + 1} }} b: {field} {{ ...f{number + 1} }} }}"
            for number in range(size)
        )
        return f"{{ ...f0 }} {' '.join(fragments)} fragment f{size} on Query {{ {leaf} }}"

    return Document(f"fragments below {field!r} to {leaf!r}", write)


def operations(body: str) -> Document:
    def write(size: int) -> str:
        return " ".join(f"query Q{number} {{ {body} }}" for number in range(size))

    return Document(f"operations of {body!r}", write)


def variables(kind: str, default: str, *, used: bool) -> Document:
    def write(size: int) -> str:
        declared = " ".join(f"$v{number}: {kind}{default}" for number in range(size))
        uses = " ".join(
            f"a{number}: shares(limit: $v{number}) {{ meta {{ total }} }}" for number in range(size)
        )
        return f"query({declared}) {{ {uses if used else '__typename'} }}"

    return Document(f"variables of {kind}{default} used={used}", write)


def filler(text: str, before: str) -> Document:
    return Document(
        f"filler {text!r} after {before!r}", lambda size: before + text * (size * 8) + "\n{ __typename }"
    )


def argument(opening: str, item: str, closing: str) -> Document:
    def write(size: int) -> str:
        items = " ".join(item.replace("#", str(number)) for number in range(size))
        return f"mutation {{ createShare(data: {opening}{items}{closing}) {{ id }} }}"

    return Document(f"argument {opening}{item}{closing}", write)


def conflicting(field: str, other: str) -> Document:
    """Fields under one name in the answer, each of which validation compares with the others."""

    def write(size: int) -> str:
        return "{ " + " ".join(f"a: {field if n % 2 else other}" for n in range(size)) + " }"

    return Document(f"conflicting {field!r} {other!r}", write)


def broken(piece: str, ending: str) -> Document:
    return Document(f"syntax error {ending!r} after {piece!r}", lambda size: "{ " + piece * size + ending)


def directives(directive: str) -> Document:
    return Document(f"directives {directive}", lambda size: "{ __typename " + f"{directive} " * size + "}")


FIELD, DIRECTIVE, LEAF = st.sampled_from(FIELDS), st.sampled_from(("", *DIRECTIVES)), st.sampled_from(LEAVES)
DOCUMENTS: st.SearchStrategy[Document] = st.one_of(
    st.builds(repeated, FIELD, DIRECTIVE, aliased=st.booleans()),
    st.builds(
        nested,
        st.sampled_from(
            ("... { ", "... on Query { ", "a: shares { ", "shares { data { ", "__schema { ", "x { ")
        ),
        st.sampled_from((*FIELDS, "...missing")),
    ),
    st.builds(chain, st.integers(1, 3), st.sampled_from(TYPES), LEAF, reaches_all=st.booleans()),
    st.builds(chained_fields, st.sampled_from(("shares", "nothing", "viewer")), LEAF),
    st.builds(operations, FIELD),
    st.builds(
        variables,
        st.sampled_from(("Int", "[[Int]]", "ShareCreate!", "Nothing", "ID")),
        st.sampled_from(("", " = 1", ' = "x"', " = {a: [1, 2]}", " @skip")),
        used=st.booleans(),
    ),
    st.builds(
        filler, st.sampled_from((" ", ",", "\n", "# x\n", "x", "é", "\ufeff")), st.sampled_from(("", "#"))
    ),
    st.builds(
        argument,
        st.sampled_from(("[", "{", '"', '"""', '{name: "abc", metadata: {', "{prices: [", "{a: {a: {a: [")),
        st.sampled_from(("1", "k#: 1", "9" * 50, "[[", "{k#: [", "$v#", '{amountType: "x"}', "x", "{}")),
        st.sampled_from(("]", "}", '"', '"""', "}}", "]}", "]}}}")),
    ),
    st.builds(conflicting, FIELD, FIELD),
    st.builds(
        broken,
        st.sampled_from(("a ", "a { ", "a(b: [", "... { ", '"x" ', "a: b ", "$", "…", "@")),
        st.sampled_from(("", "}", "!", "{", '"', "\x00", "&")),
    ),
    st.builds(directives, st.sampled_from(DIRECTIVES)),
)
