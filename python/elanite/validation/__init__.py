"""Published figures beside the simulated ones.

The way of a claim, from its file to the report; each file is read once:

1. ``data/claims.toml``: the entry.
2. ``validation/claims.py``: the entry becomes a ``Claim``, whose ``measure`` is an object.
3. ``validation/scoreboard.py``: takes the claim's points from a store, measures and judges.
4. ``validation/measures/__init__.py``: the measure, a figure of a group or a statement about several.
5. ``validation/measures/quantities.py``: the quantity of the measure, a mean, a pair or a place along a curve.
6. ``validation/measures/rows.py``: the rows that the quantity takes.
7. ``validation/verdict.py``: compares the published and the simulated figure.
8. ``report/index.py``: the page, and ``scoreboard.json``.

``claim`` has the fields of a claim; ``board`` and ``cells`` are the verdicts as text.

- ``admissible``, ``readings``: open ranges and open words of a source. ``proofs``: sources that contradict themselves.
- ``quick`` and ``reference``: short runs, and the points that they leave out. ``papers``: chapters.
- ``ablated`` and ``tally``: the claims that count. ``findings``: claims as sentences.
"""
