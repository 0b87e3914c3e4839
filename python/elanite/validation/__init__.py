"""Published figures beside the simulated ones.

A claim's way from its file to the report; each file is read once:

1. ``data/claims.toml``: the entry.
2. ``validation/claims.py``: the entry becomes a ``Claim`` with an object as its ``measure``.
3. ``validation/scoreboard.py``: takes the claim's points from a store, measures and judges.
4. ``validation/measures/__init__.py``: the measure, a group's figure or a statement about several
   groups.
5. ``validation/measures/quantities.py``: the measure's quantity, a mean, a pair or a place along a
   curve.
6. ``validation/measures/rows.py``: the rows that the quantity takes.
7. ``validation/verdict.py``: compares the published and the simulated figure.
8. ``report/index.py``: the page, and ``scoreboard.json``.

``claim`` has a claim's fields; ``board`` and ``cells`` are the verdicts as text.

- ``admissible_ranges``, ``readings``: a source's open ranges and open words. ``proofs``: sources
  that contradict themselves.
- ``short_runs`` and ``reference``: short runs, and the points that they leave out. ``papers``:
  chapters.
- ``ablation_verdicts`` and ``tally``: the claims that count. ``findings``: claims as sentences.
"""
