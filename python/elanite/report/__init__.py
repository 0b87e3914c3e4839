"""Pages: the papers' report, and pages of the user's own work.

- ``index``: the report, with its ``cover``. ``reproduction``: in which order the papers are simulated.
- ``watch``: a picture of packets. ``explorer``: the page that simulates in the browser, and its server.
- ``pages``: pages of experiments, runs, replays, calibrations and comparisons.
"""
