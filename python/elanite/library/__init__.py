"""The interface for Python: ``import elanite as el`` (``elanite.__all__`` lists its names).

- ``api``: runs and their results. ``notebooks``: progress and charts in notebooks.
- ``builder``: job experiments by calls.
- ``sweeps``: many values for a few keys. ``noise``: this computer's noise.
"""
