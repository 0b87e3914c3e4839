"""Finished points as tables, and figures with their intervals.

- ``frames`` reads tables from the store; ``selection`` chooses rows; ``export`` writes all points
  as one Parquet file.
- ``numbers``: means with intervals, by ``independent_values`` and ``looks``. ``samples``: whether
  two differ.
- ``states``: saturated or not. ``metrics``: meanings. ``policies``: rails policy names.
- ``congestion`` and ``energy``: delays and joules by link.
- ``machine_comparison``, ``differences`` and ``settings``: several machines, results or folders
  side by side.
"""
