"""Mutation testing for the Rust crates whose code enters results: small changes drawn by a seed,
and whether some test fails.

``planting`` finds and plants mutants, each behind a switch. ``workspace`` copies the workspace to
``target/mutants``, plants there, and leaves out the mutants that the compiler refuses; one build
has all mutants. ``trial`` records which tests reach which mutant, and then runs those tests with
the mutant switched on: its crate's, then those of the crates above. ``accepted.toml`` lists
mutants that no test can find, or that need no test, each with its reason.

    python -m tests.mutants.rust                 the sample of seed 0
    python -m tests.mutants.rust kernel goal     the sample in two crates
    python -m tests.mutants.rust --seed 7        another sample

The exit code is 1 if a mutant survives that is not accepted. No test that counts compares a pinned
value that the program itself has computed.
"""
