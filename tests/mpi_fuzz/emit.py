"""Programs as C: one function for each, which a person can read, compile and run.

Where many programs follow each other, the prelude is compiled apart. A program that is printed is
one whole file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from . import communicators
from .code import Code, Part, cases
from .emit_collectives import collective
from .emit_messages import messages
from .emit_rest import cancels, nobody
from .emit_windows import window
from .steps import Cancels, Collective, Make, Messages, Nobody, Program, Ref, Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .communicators import Comm
    from .steps import Step

FOLDER = Path(__file__).parent

HEADER = FOLDER / "prelude.h"

PRELUDE = (FOLDER / "prelude.c", FOLDER / "prelude_arithmetic.c", FOLDER / "prelude_requests.c")


def emit(programs: Sequence[Program], remark: str = "", whole: bool = False) -> str:
    """Programs with equal rank counts as one file, with their dependencies in it or linked with
    it.
    """
    code = Code()
    if remark:
        code("/* " + remark.replace("\n", "\n * ") + "\n */")
    if whole:
        own = '#include "prelude.h"\n'
        code("#define _DEFAULT_SOURCE\n" + HEADER.read_text(encoding="utf-8"))
        for path in PRELUDE:
            code(path.read_text(encoding="utf-8").replace(own, ""))
    else:
        code('#include "prelude.h"')
    for program in programs:
        _function(code, program)
    code("\nint main(int argc, char **argv)")
    with code.block():
        code(f"begin_all(&argc, &argv, {programs[0].ranks});")
        for program in programs:
            code(f"program_{program.seed}();")
        code("return end_all();")
    return str(code)


def _function(code: Code, program: Program) -> None:
    parts = [_part(program, number) for number in range(len(program.steps))]
    ends: dict[int, list[int]] = {}
    for number, step in enumerate(program.steps):
        ends.setdefault(number + step.lag, []).append(number)
    made = [step.name for step in program.steps if isinstance(step, Make)]
    code(f"\n/* Program {program.seed}. */\nstatic void program_{program.seed}(void)")
    with code.block():
        for name in made:
            code(f"MPI_Comm {communicators.variable(name)} = MPI_COMM_NULL;")
        for part in parts:
            for line in part.variables:
                code(line)
        code(f"begin_program({program.seed}ULL);")
        for number, part in enumerate(parts):
            for begin, lines in [(True, part.begin)] + [
                (False, parts[end].end) for end in ends.get(number, [])
            ]:
                if begin:
                    code(f"\n/* Step {number}: {part.title}. */")
                for line in lines:
                    code(line)
            for end in ends.get(number, []):
                code(f"step_done({end});")
        code("\nend_program();")
        for name in reversed(made):
            code(f"if ({communicators.variable(name)} != MPI_COMM_NULL)")
            code(f"    MPI_Comm_free(&{communicators.variable(name)});")


def _part(program: Program, number: int) -> Part:
    step = program.steps[number]
    known = communicators.known(program.ranks, program.steps[:number])
    if isinstance(step, Make):
        return _make(step, known, program.ranks)
    return _on(step, known[step.comm], number)


def _on(step: Step, comm: Comm, number: int) -> Part:
    match step:
        case Messages():
            return messages(step, comm, number)
        case Cancels():
            return cancels(step, comm, number)
        case Nobody():
            return nobody(step, comm, number)
        case Collective():
            return collective(step, comm, number)
        case Window():
            return window(step, comm, number)
    raise AssertionError(step)


def _make(step: Make, known: dict[Ref, Comm], ranks: int) -> Part:
    new, parent = communicators.variable(step.name), communicators.variable(step.parent)
    made = communicators.made(step, ranks, known)
    code = Code()
    ints = ", ".join
    match step.how:
        case "dup":
            code(f"if ({parent} != MPI_COMM_NULL)\n    MPI_Comm_dup({parent}, &{new});")
        case "idup":
            code(f"if ({parent} != MPI_COMM_NULL)")
            with code.block():
                code(f"MPI_Request request;\nMPI_Comm_idup({parent}, &{new}, &request);")
                code("MPI_Wait(&request, MPI_STATUS_IGNORE);")
        case "split":
            code(f"if ({parent} != MPI_COMM_NULL)")
            with code.block():
                code(f"static const int colors[] = {{{ints(map(str, step.colors[:ranks]))}}};")
                code(f"static const int keys[] = {{{ints(map(str, step.keys[:ranks]))}}};")
                code(
                    f"MPI_Comm_split({parent}, colors[rank] < 0 ? MPI_UNDEFINED : colors[rank],"
                    f" keys[rank], &{new});"
                )
        case "create" | "group":
            chosen = made[0].groups[0]
            with code.block():
                code(
                    f"static const int members[] = {{{ints(map(str, chosen))}}};\nMPI_Group all,"
                    " some;"
                )
                code(
                    f"MPI_Comm_group(MPI_COMM_WORLD, &all);\nMPI_Group_incl(all, {len(chosen)},"
                    " members, &some);"
                )
                if step.how == "create":
                    code(f"MPI_Comm_create(MPI_COMM_WORLD, some, &{new});")
                else:
                    code("int own;\nMPI_Group_rank(some, &own);\nif (own != MPI_UNDEFINED)")
                    code(f"    MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &{new});")
                code("MPI_Group_free(&some);\nMPI_Group_free(&all);")
        case "inter":
            low, high = made[0].groups
            with code.block():
                code(
                    "static const int colors[] ="
                    f" {{{ints(map(str, step.colors[:ranks]))}}};\nMPI_Comm half;"
                )
                code(
                    "MPI_Comm_split(MPI_COMM_WORLD, colors[rank] < 0 ? MPI_UNDEFINED :"
                    " colors[rank], rank, &half);"
                )
                code("if (half != MPI_COMM_NULL)")
                with code.block():
                    leader = f"colors[rank] == 0 ? {high[0]} : {low[0]}"
                    code(
                        f"MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, {leader}, 6,"
                        f" &{new});\nMPI_Comm_free(&half);"
                    )
        case "merge":
            for one in made:
                parent_comm = known[Ref(step.parent, one.ref.which)]
                first, second = parent_comm.groups
                turned = step.salt % 2
                for is_high, group in ((turned, first), (1 - turned, second)):
                    test = " || ".join(f"rank == {member}" for member in group)
                    code(f"if ({test})\n    MPI_Intercomm_merge({parent}, {is_high}, &{new});")
        case "cart":
            (one,) = made
            with code.block():
                code(f"static const int dims[] = {{{ints(map(str, one.dims))}}};")
                code(
                    "static const int periods[] ="
                    f" {{{ints(str(int(period)) for period in one.periods)}}};"
                )
                code(f"MPI_Cart_create(MPI_COMM_WORLD, {len(one.dims)}, dims, periods, 0, &{new});")
        case "graph":
            (one,) = made
            with code.block():
                lines = {}
                for world, (sources, targets) in enumerate(one.neighbours):
                    given = []
                    for side in (sources, targets):
                        ranks_of = f"(const int[]){{{ints(map(str, side)) or '0'}}}"
                        given.append(f"{len(side)}, {ranks_of}, MPI_UNWEIGHTED")
                    call = f"MPI_COMM_WORLD, {given[0]},\n    {given[1]}, MPI_INFO_NULL, 0, &{new}"
                    lines[world] = [f"MPI_Dist_graph_create_adjacent({call});"]
                for line in cases(lines):
                    code(line)
    members = " and ".join(
        "{" + ", ".join(map(str, group)) + "}" for one in made for group in one.groups
    )
    return Part(f"{step.how} of {parent} is {new}: {members}", [], code.lines, [])
