"""Published figures beside the simulated ones.

A claim goes from ``data/claims.toml`` through ``claims``, which loads and judges it, and ``measures``, which takes its
figure from tables.

- ``admissible``, ``readings``: open ranges and open words of a source. ``proofs``: sources that contradict themselves.
- ``quick`` and ``reference``: short runs, and what they leave out. ``papers``: chapters.
- ``ablated`` and ``tally``: which claims count. ``findings``: claims as sentences.
"""
