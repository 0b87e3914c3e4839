"""Random MPI programs, run natively and on the simulated machine, and compared byte for byte.

A seed stands for one program (``draw``): a step list that all ranks execute together (``steps``). A
program is emitted as C (``emit``). The C program fills all memory with known contents, checks
arriving data, holes and guards too, and records every status and a hash of every buffer. Programs
with the same rank count are compiled into one executable, which runs under MPICH's own shared
memory and under ``elanite mpirun`` in several configurations (``runs``). These runs' records must
be equal. If they differ, the program is shrunk (``shrink``) and printed.

Everything follows from the seed, except the order in which a real network delivers. So a program
has no race: where receives with wildcards may find several messages, records are written in message
order, not arrival order.

| module | |
|---|---|
| ``steps`` | the steps of a program |
| ``layouts`` | datatypes, with holes and without |
| ``communicators`` | the ranks in each communicator |
| ``fit`` | makes a program correct after parts were removed |
| ``draw``, ``draw_*``, ``sizes`` | a program from a seed |
| ``emit``, ``emit_*``, ``prelude*.c`` | a program as C |
| ``runs``, ``configurations`` | compiles and runs |
| ``fuzz``, ``shrink``, ``__main__`` | the search, and the command line |
"""
