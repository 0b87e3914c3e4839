"""Mutation testing of the Python code that judges: small changes made everywhere, and whether some test fails.

``planting`` makes all mutants of a module at once, each behind a switch; ``trial`` runs the tests that reach a mutant
with its switch on. So a mutant costs a few fast tests. ``accepted.toml`` lists mutants that no
test can find, or that need none, each with its reason.

    python -m tests.mutants                  all mutants; exit code 1 if one survives that is not accepted
    python -m tests.mutants results.numbers  those of one module

No test that counts compares a pinned digest or a snapshot.
"""
