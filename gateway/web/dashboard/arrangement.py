"""Which groups and small charts a member sees, and in which order; kept for each member of a workspace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from sqlalchemy import ColumnElement, select, update

from gateway.web.dashboard.metrics.layout import GROUPS, Group
from gateway.web.kit.visits import Visit
from schema.workspaces.workspaces import Workspace
from storage.rows.rows import table_of
from storage.tables.workspaces.workspaces import WorkspaceMemberRow

_NAMES = frozenset(name for group in GROUPS for name in (group.key, *group.slugs))
_members = table_of(WorkspaceMemberRow)


@dataclass(frozen=True)
class Arrangement:
    """`order` and `hidden` name groups by their keys and charts by their slugs, each name at most once.

    What `order` does not name, such as a metric that is newer than it, comes last.
    """

    order: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()

    @classmethod
    def of(cls, kept: Mapping[str, Any] | None) -> Self:
        """What was kept, without names that there are no more."""
        kept = kept or {}
        order = dict.fromkeys(name for name in kept.get("order", ()) if name in _NAMES)
        return cls(tuple(order), _NAMES.intersection(kept.get("hidden", ())))

    def kept(self) -> dict[str, list[str]]:
        return {"order": list(self.order), "hidden": sorted(self.hidden)}

    @property
    def groups(self) -> list[Group]:
        """All groups with all their charts, in the member's order."""
        by_key = {group.key: group for group in GROUPS}
        keys = self._sorted(list(by_key))
        return [replace(by_key[key], slugs=tuple(self._sorted(by_key[key].slugs))) for key in keys]

    @property
    def shown(self) -> list[Group]:
        """The groups that are not hidden and have charts that are not, with these alone."""
        groups = [
            replace(group, slugs=tuple(slug for slug in group.slugs if slug not in self.hidden))
            for group in self.groups
            if group.key not in self.hidden
        ]
        return [group for group in groups if group.slugs]

    def changed(self, what: str, name: str) -> Self:
        """After `up`, `down` or `hide` of a group or chart; `hide` shows what is hidden. Else the same."""
        if name not in _NAMES:
            return self
        if what == "hide":
            return replace(self, hidden=self.hidden ^ {name})
        step = {"up": -1, "down": 1}.get(what, 0)
        beside = next((list(names) for names in self._siblings() if name in names), [])
        place = beside.index(name)
        if not 0 <= place + step < len(beside):
            return self
        beside[place], beside[place + step] = beside[place + step], beside[place]
        return replace(self, order=tuple(other for names in self._siblings(beside) for other in names))

    def _siblings(self, instead: Sequence[str] = ()) -> list[Sequence[str]]:
        """The names that are ordered among each other; `instead` is another order of some of them."""
        groups = self.groups
        lists: list[Sequence[str]] = [[group.key for group in groups], *(group.slugs for group in groups)]
        return [instead if set(names) == set(instead) else names for names in lists]

    def _sorted(self, names: Sequence[str]) -> list[str]:
        places = {name: place for place, name in enumerate(self.order)}
        return sorted(names, key=lambda name: places.get(name, len(places)))


async def arrangement_of(visit: Visit, workspace: Workspace) -> Arrangement:
    """The signed-in member's."""
    async with visit.ctx.services.database.snapshot() as connection:
        found = await connection.execute(select(_members.c.dashboard).where(_is_of(visit, workspace)))
    return Arrangement.of(found.scalar())


async def change_arrangement(visit: Visit, workspace: Workspace, what: str, name: str) -> None:
    """Keep what `Arrangement.changed` makes of the signed-in member's; `reset` keeps nothing."""
    # A setting of a page is no change of the member: nothing that the API shows of one is another.
    async with visit.ctx.services.database.write() as connection:
        member = _is_of(visit, workspace)
        found = await connection.execute(select(_members.c.dashboard).where(member).with_for_update())
        kept = None if what == "reset" else Arrangement.of(found.scalar()).changed(what, name).kept()
        await connection.execute(update(_members).where(member).values(dashboard=kept))


def _is_of(visit: Visit, workspace: Workspace) -> ColumnElement[bool]:
    user_id = None if visit.user is None else visit.user.id
    return (_members.c.workspace_id == workspace.id) & (_members.c.user_id == user_id)
