"""Plain things that every other package may use, and that use none of them.

- ``whole`` writes files, ``bounded`` reads them, ``streams`` are the standard ones.
- ``host``: the limits of this computer. ``foreign``: libraries that read the files of users.
- ``build`` and ``checkout``: which program computes. ``simulator``: programs of the user's own that simulate.
- ``rows`` and ``schema``: types of rows and of JSON schemas. ``units``: quantities as texts.
- ``seeds``: the range of first seeds.
- ``text`` and ``html``: numbers and tables for people.
"""
