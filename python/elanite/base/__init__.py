"""Plain things that every other package may use, and that use no other package.

- ``whole`` writes files, ``bounded`` reads them, ``streams`` are the standard ones.
- ``host``: this computer's limits. ``foreign``: libraries that read users' files.
- ``build`` and ``checkout``: the computing program. ``simulator``: the user's own simulators.
- ``rows`` and ``schema``: types for rows and JSON schemas. ``units``: quantities as texts.
- ``seeds``: the first seeds' range.
- ``text`` and ``html``: numbers and tables for people.
"""
