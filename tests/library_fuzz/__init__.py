"""Random programs in C for OpenSHMEM and Elanlib, compared with an oracle byte for byte.

A seed stands for one program (``draw``): a step list that all ranks execute together (``steps``).
The program is emitted as C (``emit``, with ``shmem`` or ``elanlib`` calls), and ``elanite prun``
runs it twice. After each step every rank writes all its memory into a file. ``oracle`` computes the
same memory in Python, step by step, from the steps' meaning alone, without Elanite code. All bytes
must be equal, and so must both runs' digests. A program that differs is shrunk (``runs``), and
printed with the command that repeats it.

A program has no race. Within a step, a memory range belongs to one *bundle* of operations.
Operations by several ranks on one word in one step commute, or happen under a lock. Anything a rank
awaits, another rank has sent earlier in the list, so that no program deadlocks.

Not in here: memory that is allocated and freed meanwhile, threads, floating-point numbers and wrong
calls, which ``tests/shmem`` and ``tests/elan`` have.
"""
