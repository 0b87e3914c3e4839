"""Published figures beside the simulated ones.

A claim goes from ``data/claims.toml`` through ``claims``, which reads ``claim``, ``measures``, which takes its figure
from tables, and ``verdict``, which compares the two, to ``scoreboard``; ``board`` and ``cells`` print it.

- ``admissible``, ``readings``: open ranges and open words of a source. ``proofs``: sources that contradict themselves.
- ``quick`` and ``reference``: short runs, and the points that they leave out. ``papers``: chapters.
- ``ablated`` and ``tally``: the claims that count. ``findings``: claims as sentences.
"""
