"""``python -m perdure.cli``."""

from perdure.cli.main import main

main()
