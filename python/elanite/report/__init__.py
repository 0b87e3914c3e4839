"""Pages: the papers' report, and pages on the user's own work.

- ``index``: the report, with its ``content``, ``layout`` and ``cover``. ``reproduction``: in which
  order the papers are simulated.
- ``watch``: a packet picture. ``explorer``: the page that simulates in the browser, and its server.
- ``pages``: pages on experiments, runs, replays, calibrations and comparisons.
"""
