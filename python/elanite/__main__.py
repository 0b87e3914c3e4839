"""The command ``elanite``, and ``python -m elanite``.

An interrupt in the first moments, while modules are still read, ends the command as later ones do.
"""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from elanite import cli
    except KeyboardInterrupt:
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()
