"""Finished points as tables, and figures with their intervals.

- ``frames`` reads tables from the store; ``select`` chooses rows; ``export`` writes all points as
  one Parquet file.
- ``numbers``: means with intervals, by ``independent`` values and ``looks``. ``samples``: whether
  two differ.
- ``states``: saturated or not. ``metrics``: meanings. ``policies``: rails policy names.
- ``congestion`` and ``energy``: delays and joules by link.
- ``beside``, ``differences`` and ``settings``: several machines, results or folders side by side.
"""
