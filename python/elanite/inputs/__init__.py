"""Machine and experiment files, and the plan that is made of them.

- ``sources``: the files. ``machine`` and ``experiment``: the same as objects.
- ``contents``: the types of files and points as the simulator returns them.
- ``toml``: files of dictionaries. ``machines``: files with other values.
- ``overrides``: keys of ``--set``. ``figure_checks``: mistakes in ``[[figure]]``.
- ``designs``: machines that are asked for by nodes and links, of ``links`` by name and ``shapes`` of networks.
- ``graphs`` and ``patterns``: networks and traffic from other files and from Python.
- ``plan``: the points of an experiment. ``warmup``: how long the start of their sources lasts.
"""
