"""`make deploy-check`: a line for each protection of docs/deploy/, and a failure where one is missing."""

import sys

from tests.deploy.checks import CHECKS, Deployment


def main() -> int:
    files, missing = Deployment(), 0
    for name, faults in CHECKS:
        places = ", ".join(faults(files))
        missing += bool(places)
        sys.stdout.write(f"missing  {name}: {places}\n" if places else f"ok       {name}\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
