"""The counts of a selection set, of which the cost of a document is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from resolvers.operations.limits.admission import calls_for


@dataclass(slots=True)
class Totals:
    """The counts of a selection set for one object, with its fragments expanded.

    `calls` is the cost of the operations and of introspection. `links` counts the links by the objects that
    each may give. `lists` are the embedded lists by field, with their names in the answer. `depth` counts
    levels of fields, `nested` levels of selection sets, and `members` levels of lists of a type's members in
    introspection.
    """

    calls: int = 0
    links: dict[int, int] = field(default_factory=dict)
    lists: dict[str, set[str]] = field(default_factory=dict)
    depth: int = 0
    nested: int = 1
    aliases: int = 0
    selections: int = 0
    schemas: int = 0
    types: int = 0
    members: int = 0

    def add(self, below: "Totals", times: int = 1) -> None:
        """Add the counts of a nested selection set, which each of `times` objects has."""
        self.calls += below.calls
        for objects, count in below.links.items():
            self.add_links(times * objects, count)
        self.nested = max(self.nested, below.nested + 1)
        self.aliases += below.aliases
        self.selections += below.selections
        self.schemas += below.schemas
        self.types += below.types
        self.members = max(self.members, below.members)

    def add_lists(self, lists: Mapping[str, set[str]]) -> None:
        for name, aliases in lists.items():
            self.lists.setdefault(name, set()).update(aliases)

    @property
    def repeated_lists(self) -> int:
        """How many lists are in the answer once more, under another name."""
        return sum(map(len, self.lists.values())) - len(self.lists)

    def add_links(self, objects: int, count: int = 1) -> None:
        self.links[objects] = self.links.get(objects, 0) + count

    @property
    def cost(self) -> int:
        """In calls: one for each 100 objects that a link may give, at least one for each link."""
        links = sum(count * calls_for(objects) for objects, count in self.links.items())
        return self.calls + links
