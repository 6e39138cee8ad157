"""Which endpoint a path leads to: fixed paths in a dictionary, others in a tree of segments."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Place = TypeVar("Place")

# The parameter of a template's last segment, such as `{external_id:path}`, which may hold slashes.
_REST = ":path}"
_NO_TEMPLATES: Mapping[str, Any] = {}


@dataclass
class _Branch(Generic[Place]):
    """What may follow a beginning of segments: a certain segment, any other, or all the rest."""

    named: dict[str, "_Branch[Place]"] = field(default_factory=dict)
    any: "_Branch[Place] | None" = None
    place: tuple[Place, tuple[str, ...]] | None = None
    rest: tuple[Place, tuple[str, ...]] | None = None


class RouteTable(Generic[Place]):
    """Places by method and template. A fixed segment precedes a parameter, and that precedes a rest.

    A path that one method has without parameters is no value of another's: `POST /events/ingest` is no id.

    Parameters hold text as the path has it, decoded once; `{name}` is one segment that is not empty.
    """

    def __init__(self) -> None:
        self._fixed: dict[str, dict[str, Place]] = {}
        self._every_fixed: set[str] = set()
        # Templates with one parameter, the last segment; the key is the path before it.
        self._last: dict[str, dict[str, tuple[Place, str]]] = {}
        self._trees: dict[str, _Branch[Place]] = {}

    def add(self, method: str, template: str, place: Place) -> None:
        """The first place of a template stays."""
        if "{" not in template:
            self._fixed.setdefault(method, {}).setdefault(template, place)
            self._every_fixed.add(template)
            return
        beginning, _, last = template.rpartition("/")
        if "{" not in beginning and last.startswith("{") and not last.endswith(_REST):
            self._last.setdefault(method, {}).setdefault(beginning, (place, last[1:-1]))
            return
        branch = self._trees.setdefault(method, _Branch())
        names: list[str] = []
        for segment in template.split("/"):
            if segment.endswith(_REST):
                branch.rest = branch.rest or (place, (*names, segment[1 : -len(_REST)]))
                return
            if segment.startswith("{"):
                names.append(segment[1:-1])
                branch.any = branch.any or _Branch()
                branch = branch.any
            else:
                branch = branch.named.setdefault(segment, _Branch())
        branch.place = branch.place or (place, tuple(names))

    def find(self, method: str, path: str) -> tuple[Place, dict[str, str]] | None:
        """The place and the path's parameters; None if the method has no template that fits."""
        fixed = self._fixed.get(method)
        place = fixed.get(path) if fixed is not None else None
        if place is not None:
            return place, {}
        if path in self._every_fixed:
            return None
        beginning, _, last = path.rpartition("/")
        if last and (found := self._last.get(method, _NO_TEMPLATES).get(beginning)) is not None:
            return found[0], {found[1]: last}
        tree = self._trees.get(method)
        return None if tree is None else _find(tree, path.split("/"), 0, ())

    def is_fixed(self, path: str) -> bool:
        """Whether some method has this path without parameters."""
        return path in self._every_fixed


def _find(
    branch: _Branch[Place], segments: list[str], depth: int, values: tuple[str, ...]
) -> tuple[Place, dict[str, str]] | None:
    if depth == len(segments):
        return _filled(branch.place, values)
    segment = segments[depth]
    found = None
    if (named := branch.named.get(segment)) is not None:
        found = _find(named, segments, depth + 1, values)
    if found is None and segment and branch.any is not None:
        found = _find(branch.any, segments, depth + 1, (*values, segment))
    if found is None and branch.rest is not None:
        return _filled(branch.rest, (*values, "/".join(segments[depth:])))
    return found


def _filled(
    place: tuple[Place, tuple[str, ...]] | None, values: tuple[str, ...]
) -> tuple[Place, dict[str, str]] | None:
    return None if place is None else (place[0], dict(zip(place[1], values, strict=True)))
