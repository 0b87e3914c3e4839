"""Studies: many values for a few keys, and their effects on results, claims or measured values.

- ``ranges`` and ``variation``: values to try. ``limits`` and ``assumptions``: warnings before a
  campaign.
- ``sweeps``: all combinations or a sample. ``placements``: nodes for jobs.
- ``calibration``, with ``measurements``, ``search``, ``minimum``, ``identifiability`` and ``fit``:
  values nearest to measured ones.
- ``own_claims``: users' claims, with measured values.
- ``basis``: claims on short runs, for ``refit``, and with ``probes`` for ``sensitivity`` and
  ``ablation``; ``changes``, ``study_findings`` and ``ablation_table`` are their outcomes;
  ``heat_map`` and ``residuals`` draw figures.
"""
