"""Resources as GraphQL finds them by their ids, whatever their types."""

from uuid import UUID

import strawberry

# The metadata of a field that leads to a resource of any type: the operations that read one, by table. It
# costs a call.
LOOKUP = "lookup"


@strawberry.interface(description="A resource that `node` finds.")
class Node:
    id: UUID = strawberry.field(description="UUID, version 4.")
