"""Random programs in C for OpenSHMEM and Elanlib, compared with an oracle byte for byte.

A seed stands for one program (``draw``): a list of steps that all ranks go through together (``steps``). The program
is emitted as C (``emit``, with the calls of ``shmem`` or of ``elanlib``), and ``elanite prun`` runs it twice. After
each step every rank writes all its memory into a file. ``oracle`` computes the same memory in Python, step by step,
from the meaning of the steps and from nothing of Elanite. All bytes must be equal, and so must the digests of the two
runs. A program that differs is made smaller (``runs``), and printed with the command that repeats it.

A program has no race. Within a step, a range of memory belongs to one *bundle* of operations. What several ranks do
to one word in one step commutes, or happens under a lock. What one rank awaits, another rank has sent earlier in the
list, so that no program deadlocks.

Not in here: memory that is allocated and freed meanwhile, threads, floating-point numbers and wrong calls, which
``tests/shmem`` and ``tests/elan`` have.
"""
