"""Entry point of the desktop extension: the bridge that lies beside this file, run by whatever Python the host found.

Refuses to be anything more: what is not set in the extension's settings arrives empty, or as the placeholder itself,
and counts as not set.
"""

import os
import sys

NEEDED = (3, 11)


def main() -> int:
    """Run the bridge until the host goes; 2 where this Python is too old for it."""
    if sys.version_info < NEEDED:
        sys.stderr.write(
            f"perdure: Python {NEEDED[0]}.{NEEDED[1]} or newer is needed; this is {sys.version.split()[0]}.\n"
        )
        return 2
    for name in ("PERDURE_URL", "PERDURE_TOKEN"):
        value = os.environ.get(name, "").strip()
        if not value or value.startswith("${"):
            os.environ.pop(name, None)
    # also where the host starts Python isolated or with PYTHONSAFEPATH
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no need of pathlib
    from perdure.bridge.main import main as bridge

    return bridge()


if __name__ == "__main__":
    sys.exit(main())
