"""The interface for Python: ``import elanite as el`` (``elanite.__all__`` lists its names).

- ``api``: runs and their results. ``notebooks``: progress in notebooks.
- ``builder``: experiments of jobs by calls.
- ``sweeps``: many values of a few keys. ``noise``: the noise of this computer.
"""
