"""Machine and experiment files, and the plan that is made from them.

- ``sources``: the files. ``machine`` and ``experiment``: the same as objects.
- ``contents``: the types for files and points as the simulator returns them.
- ``toml``: files from dictionaries. ``machines``: files with other values.
- ``overrides``: keys for ``--set``. ``figure_checks``: mistakes in ``[[figure]]``.
- ``designs``: machines by nodes and links, from ``links`` by name and network ``shapes``.
- ``graphs`` and ``patterns``: networks and traffic from other files and from Python.
- ``plan``: an experiment's points. ``warmup``: the duration of their sources' start.
"""
