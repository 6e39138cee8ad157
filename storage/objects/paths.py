"""The paths that objects may have: the same in every store, so that files can move between stores."""

from storage.objects.interface import PathRefused

LONGEST_SEGMENT_BYTES = 255


def check_path(path: str) -> list[str]:
    """The path's segments. Raises `PathRefused`."""
    segments = path.split("/")
    if not all(_is_storable(segment) for segment in segments):
        raise PathRefused
    return segments


def _is_storable(segment: str) -> bool:
    try:
        length = len(segment.encode())
    except UnicodeEncodeError:
        return False
    is_name = 0 < length <= LONGEST_SEGMENT_BYTES and segment not in {".", ".."}
    return is_name and not any(character in segment for character in "\0\\")
