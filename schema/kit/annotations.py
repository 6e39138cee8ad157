"""Types out of annotations."""

from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import strawberry


def unwrap(annotation: Any) -> Any:
    """The annotation without `Annotated`, `Maybe`, `NewType` and `None`; the first type of a union."""
    while True:
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin in (Annotated, strawberry.Maybe):
            annotation = arguments[0]
        elif origin in (Union, UnionType):
            annotation = next(item for item in arguments if item is not NoneType)
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        else:
            return annotation


def is_list(annotation: Any) -> bool:
    """Whether the annotation, without its wrappers, is a list."""
    return get_origin(unwrap(annotation)) is list
