"""The seeds for a run's random numbers: the commands and the plans share their default and their
range.

The module has no other imports, because the command line needs the default for its help.
"""

from __future__ import annotations

FIRST_SEED = 1
"""The default first seed."""

MOST_SEED = 2**63
"""The largest first seed: several seeds count up from it."""
