"""``python -m perdure.hooks``, and the file itself for those who start it by its path."""

import os
import sys

if __name__ == "__main__":
    if not __package__:  # started by path: with `python -S -I`, which spares the search for site-packages
        sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    from perdure.hooks.main import main

    sys.exit(main())
