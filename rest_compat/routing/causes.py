"""Why a value of a query is refused, where the way in which it is written is the cause."""

import re
from collections.abc import Collection

from starlette.datastructures import QueryParams

from schema.errors import Problem

# What a `+` before the offset becomes.
_OFFSET_AFTER_SPACE = re.compile(r"\d \d\d:?\d\d$")


def explain(entry: Problem, params: QueryParams, lists: Collection[str]) -> Problem:
    """The problem of a query with its cause, if the value is not what its writer meant.

    The parameters in `lists` may be sent several times.
    """
    first, *rest = entry["loc"] or [""]
    name = rest[0] if first == "filters" and rest else first
    if len(rest) > 1 or not isinstance(name, str) or name not in params:
        return entry
    texts = params.getlist(name)
    if name == "metadata" and first == "filters":
        message = "`metadata` is written as `metadata[key]=value`, once for each key"
    elif len(texts) > 1 and name not in lists:
        message = f"`{name}` was sent {len(texts)} times: send it once"
    elif _OFFSET_AFTER_SPACE.search(texts[0]):
        message = f"`{name}` has a space where a + may have been: write `%2B` for a + in a URL"
    else:
        return entry
    return entry | {"msg": message}
