"""The command ``elanite``, and ``python -m elanite``.

An interrupt in the first moments, while modules are still read, ends the command as later ones do.
Where files may only have some size, no bytecode is kept: CPython 3.11 keeps the part of a file that
found room, and fails on it later.
"""

import resource
import sys


def main() -> None:
    """Run the command line."""
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        sys.dont_write_bytecode = True
    try:
        from elanite.base import host, streams

        streams.settle()
        host.require()
        from elanite import cli
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        from elanite.errors import ElaniteError

        known = error if isinstance(error, ElaniteError) else host.failure(error)
        if known is None:
            raise
        sys.stderr.write(f"error: {known}\n")
        sys.exit(known.exit_code)
    cli.main()


if __name__ == "__main__":
    main()
