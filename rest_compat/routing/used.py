"""What a request uses of one path of REST: its operation, query parameters and fields of the body."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from resolvers.operations.declaration import Operation
from resolvers.operations.used_inputs import fields_of_body, is_deprecated, keep, kept_used, never_failing
from schema.kit.deprecation import deprecation_of
from storage.enums import UsageKind, UsageSurface
from storage.usage.usage import Part, Used


class RouteUsage:
    """Finds what requests to one path use. `place` is its method and template, like `GET /api/shares/`."""

    def __init__(self, operation: Operation, place: str) -> None:
        self.place = place
        self._operation = Part(UsageKind.OPERATION, place, operation.deprecation is not None)
        filters = {} if operation.filters is None else operation.filters.model_fields
        self._deprecated = {name for name, field in filters.items() if deprecation_of(field) is not None}

    @never_failing
    def of(self, parameters: Iterable[str], data: Any = None) -> Used:
        """What a valid request uses with these query parameters and this body."""
        sent = {name.partition("[")[0] for name in parameters}
        fields = frozenset() if data is None else fields_of_body(data)
        names = frozenset((*sent, *fields))
        used = kept_used(UsageSurface.REST, self.place, names)
        if used is None:
            parts = (self._operation, *self._parameters(sent), *self._fields(fields))
            used = keep((UsageSurface.REST, self.place, names), parts)
        return used

    def _parameters(self, names: Collection[str]) -> Iterator[Part]:
        for name in names:
            yield Part(UsageKind.ARGUMENT, f"{self.place}?{name}", name in self._deprecated)

    def _fields(self, fields: Collection[Any]) -> Iterator[Part]:
        for owner, path, name in fields:
            yield Part(UsageKind.INPUT_FIELD, f"{self.place}#{path}{name}", is_deprecated(owner, name))
