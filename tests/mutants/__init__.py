"""Mutation testing for the judging Python code: small changes everywhere, and whether some test
fails.

``planting`` makes all of a module's mutants together, each behind a switch; ``trial`` runs the
tests that reach a mutant with its switch on. So a mutant costs a few fast tests. ``accepted.toml``
lists mutants that no test can find, or that need no test, each with its reason.

    python -m tests.mutants                  all mutants; exit code 1 if one survives unaccepted
    python -m tests.mutants results.numbers  one module's mutants

No test that counts compares a pinned digest or a snapshot.
"""
