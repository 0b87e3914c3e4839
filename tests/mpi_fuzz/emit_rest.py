"""Cancelled receives, and messages to MPI_PROC_NULL, as C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .code import Part, cases

if TYPE_CHECKING:
    from .communicators import Comm
    from .steps import Cancels, Nobody

TAG = 77


def cancels(step: Cancels, comm: Comm, number: int) -> Part:
    """Receives that are cancelled before any send, or while their messages may be in flight."""
    count, c = len(step.pairs), comm.variable
    variables = [
        f"static message m{number}[{count}];",
        f"MPI_Request q{number}[{count}];",
        f"MPI_Status t{number};",
    ]
    first: dict[int, list[str]] = {rank: [] for rank in sorted(comm.members)}
    second: dict[int, list[str]] = {rank: [] for rank in first}
    third: dict[int, list[str]] = {rank: [] for rank in first}
    size = step.bytes
    for index, (source, to) in enumerate(step.pairs):
        sender, receiver, m, q = (
            comm.world(0, source),
            comm.world(0, to),
            f"m{number}[{index}]",
            f"q{number}[{index}]",
        )
        tag = TAG + index
        post = f"MPI_Irecv({m}.to.at, {size}, MPI_BYTE, {source}, {tag}, {c}, &cancelled);"
        first[receiver] += [
            f"SHAPE({m}.in, MPI_BYTE, {size}, 1, {{0, 1, 1, 0}});",
            f"{m}.to = open_room(&{m}.in, {size}, HOLE({number}, {index}, 1), 0);",
        ]
        if not step.racing:
            first[receiver] += [
                "{",
                f"    int flag = 0;\n    MPI_Request cancelled;\n    {post}",
                f"    MPI_Cancel(&cancelled);\n    MPI_Wait(&cancelled, &t{number});",
                f"    MPI_Test_cancelled(&t{number}, &flag);\n    if (!flag)",
                f'        wrong("step {number}: receive {index} was not cancelled");',
                f"    room picture = picture_of(&{m}.to);",
                f'    same({number}, {index}, "cancelled", &{m}.to, &picture);\n}}',
            ]
        second[sender] += [
            f"SHAPE({m}.out, MPI_BYTE, {size}, 1, {{0, 1, 1, 0}});",
            f"{m}.from = open_room(&{m}.out, {size}, HOLE({number}, {index}, 0), 0);",
            f"lay(&{m}.from, &{m}.out, 0, {size}, DATA({number}, {index}, 0));",
            f"MPI_Isend({m}.from.at, {size}, MPI_BYTE, {to}, {tag}, {c}, &{q});",
        ]
        receive = f"MPI_Recv({m}.to.at, {size}, MPI_BYTE, {source}, {tag}, {c}, &t{number});"
        if step.racing:
            third[receiver] += [
                "{",
                f"    int flag = 0;\n    MPI_Request cancelled;\n    {post}",
                f"    MPI_Cancel(&cancelled);\n    MPI_Wait(&cancelled, &t{number});",
                f"    MPI_Test_cancelled(&t{number}, &flag);\n    if (flag)\n        {receive}\n}}",
            ]
        else:
            third[receiver].append(receive)
        sent = f"&(sent){{{index}, {source}, {tag}, DATA({number}, {index}, 0), {size}}}"
        third[receiver] += [
            f"got({number}, &{m}, &t{number}, MPI_SUCCESS, {sent});",
            f"shut(&{m}.to);",
        ]
    for index, (source, _) in enumerate(step.pairs):
        third[comm.world(0, source)] += [
            f"MPI_Wait(&q{number}[{index}], MPI_STATUS_IGNORE);",
            f"shut(&m{number}[{index}].from);",
        ]
    barrier = [f"if ({c} != MPI_COMM_NULL)", f"    MPI_Barrier({c});"]
    lines = cases(first) + (barrier if not step.racing else []) + cases(second) + cases(third)
    return Part(f"{count} {'racing ' if step.racing else ''}cancels in {c}", variables, lines, [])


def nobody(step: Nobody, comm: Comm, number: int) -> Part:
    """Messages to and from MPI_PROC_NULL; null requests."""
    c, count = comm.variable, step.salt % 300
    lines = [
        f"if ({c} != MPI_COMM_NULL) {{",
        (
            "    MPI_Status status;\n    MPI_Request request[2];\n    int flag = 0, index = 0,"
            " elements = 0;"
        ),
        f"    char buffer[{count + 1}];\n    memset(buffer, 7, sizeof buffer);",
        f"    MPI_Send(buffer, {count}, MPI_BYTE, MPI_PROC_NULL, 3, {c});",
        f"    MPI_Recv(buffer, {count}, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, {c}, &status);",
        "    MPI_Get_count(&status, MPI_BYTE, &elements);",
        (
            "    if (status.MPI_SOURCE != MPI_PROC_NULL || status.MPI_TAG != MPI_ANY_TAG ||"
            " elements != 0)"
        ),
        (
            f'        wrong("step {number}: from nobody: %d, %d, %d", status.MPI_SOURCE,'
            " status.MPI_TAG, elements);"
        ),
        f"    MPI_Isend(buffer, {count}, MPI_BYTE, MPI_PROC_NULL, 3, {c}, &request[0]);",
        f"    MPI_Irecv(buffer, {count}, MPI_BYTE, MPI_PROC_NULL, 3, {c}, &request[1]);",
        "    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);",
        f"    MPI_Probe(MPI_PROC_NULL, 3, {c}, &status);",
        f"    MPI_Iprobe(MPI_PROC_NULL, 3, {c}, &flag, &status);",
        "    MPI_Waitany(2, request, &index, &status);",
        "    MPI_Get_count(&status, MPI_BYTE, &elements);",
        (
            f'    fprintf(record, "{number} nobody: %d %d %d %d %d %d\\n", flag, index =='
            " MPI_UNDEFINED,"
        ),
        "            status.MPI_SOURCE, status.MPI_TAG, elements, buffer[0]);\n}",
    ]
    return Part(f"nobody in {c}", [], lines, [])
