"""Studies: many values of a few keys, and what becomes of results, claims or measured values.

- ``ranges`` and ``vary``: values to try. ``limits``: warnings before a campaign.
- ``sweeps``: all combinations or a sample of them. ``placements``: nodes for jobs.
- ``calibration``, with ``measured``, ``search``, ``minimum``, ``identify`` and ``fit``: values nearest to measured
  ones.
- ``own_claims``: claims of a user's own, with values of measurements.
- ``basis``: claims on short runs, for ``sensitivity``, ``refit`` and ``ablation``; ``changes``, ``studied`` and
  ``ablation_table`` are their outcomes; ``heat_map`` and ``residuals`` draw figures.
"""
