"""Which paths an object can have: in a bucket as on a disk, so that files can move between stores."""

from storage.objects.interface import PathRefused

LONGEST_SEGMENT_BYTES = 255


def check_path(path: str) -> list[str]:
    """The path's segments. Raises `PathRefused`."""
    segments = path.split("/")
    if not all(_keepable(segment) for segment in segments):
        raise PathRefused
    return segments


def _keepable(segment: str) -> bool:
    try:
        length = len(segment.encode())
    except UnicodeEncodeError:
        return False
    named = 0 < length <= LONGEST_SEGMENT_BYTES and segment not in {".", ".."}
    return named and not any(character in segment for character in "\0\\")
