"""The commands of `duograph`, which write no change log here: for what the log costs."""

from gateway.cli.main import main
from storage.changes.log import ChangeLog


def _ignore(*_: object, **__: object) -> None:
    """Nothing changes, as far as the log knows."""


if __name__ == "__main__":
    ChangeLog.add = _ignore  # type: ignore[method-assign]
    main()
