"""What a document was found to request, before it is validated."""

from dataclasses import dataclass, field
from functools import cached_property

from graphql import FieldNode

from resolvers.operations.declaration import LARGEST_BODY, Operation
from resolvers.operations.limits.admission import Demand


@dataclass
class Survey:
    """What a document requests. `cost` is in calls.

    `roots` are the fields that are operations, each as often as it is written. `is_introspection` marks a
    document that selects only the schema, `is_for_variables` one of which other variables request something
    else.
    """

    roots: list[tuple[Operation, FieldNode]] = field(default_factory=list)
    demands: list[Demand] = field(default_factory=list)
    cost: int = 0
    is_introspection: bool = False
    is_for_variables: bool = False

    @cached_property
    def is_restricted(self) -> bool:
        """Whether one of the operations has the lower limit of its own."""
        return any(operation.restricted for operation, _ in self.roots)

    @cached_property
    def largest_body(self) -> int:
        """The largest body in bytes of the operations."""
        return max((operation.largest_body for operation, _ in self.roots), default=LARGEST_BODY)

    @cached_property
    def mutations(self) -> int:
        """The number of operations that change something."""
        return sum(operation.changes for operation, _ in self.roots)

    def without_nodes(self) -> "Survey":
        """The same without the roots: each of their nodes would hold the whole document in memory."""
        numbers = {name: getattr(self, name) for name in ("is_restricted", "largest_body", "mutations")}
        same = Survey([], self.demands, self.cost, self.is_introspection)
        vars(same).update(numbers)
        return same
