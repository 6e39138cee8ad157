"""Values of settings that are kept in files, as the secrets of containers and of systemd are."""

from collections.abc import Mapping
from pathlib import Path

SUFFIX = "_FILE"


class ValueFileError(Exception):
    """A file that cannot be used; the message names the variable and says what to do."""


def with_values_of_files(environ: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    """`environ`, where each `NAME_FILE` is replaced by `NAME` with the content of that file.

    Line breaks at the end of a file do not count. Only `names` can be in files. Raises `ValueFileError`.
    """
    values = dict(environ)
    for name in names & {each.removesuffix(SUFFIX) for each in environ if each.endswith(SUFFIX)}:
        path = values.pop(name + SUFFIX)
        if not path:
            continue
        if values.get(name):
            raise ValueFileError(f"{name} and {name}{SUFFIX} are both set: unset one of them.")
        values[name] = _content(name + SUFFIX, Path(path))
    return values


def _content(variable: str, path: Path) -> str:
    try:
        content = path.read_text("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise ValueFileError(f"{variable}: {path} is not text in UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise ValueFileError(f"{variable}: {path} cannot be read ({reason}).") from None
    if not content:
        raise ValueFileError(f"{variable}: {path} is empty. Write the value into it, or unset the variable.")
    return content
