"""``python -m elanite``: the same as the command ``elanite``."""

from elanite.cli import main

if __name__ == "__main__":
    main()
