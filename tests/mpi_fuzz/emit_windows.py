"""One-sided communication as C.

Every rank keeps a copy of all ranks' windows, and applies each epoch's accesses to this copy. So it
has its own window's expected contents, and its reads' expected results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .code import Code, Part, assign
from .draw_windows import SPECIAL, bytes_needed
from .layouts import BASIC, shape

if TYPE_CHECKING:
    from .communicators import Comm
    from .steps import Access, Epoch, Window

WRITES = ("Put", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap")
READS = ("Get", "Get_accumulate", "Fetch_and_op", "Compare_and_swap")


class _Step:
    def __init__(self, step: Window, comm: Comm, number: int) -> None:
        self.step, self.comm, self.number = step, comm, number
        self.group = comm.groups[0]
        self.code = Code()

    def key(self, place: str) -> str:
        return f"DATA({self.number}, {place}, 0)"

    def emit(self) -> list[str]:
        """The whole step."""
        step, code, size = self.step, self.code, len(self.group)
        needed = [bytes_needed(step, rank) for rank in range(size)]
        # Not all that have this variable: after a split it names other communicators on other
        # ranks.
        code("if (" + " || ".join(f"rank == {rank}" for rank in sorted(self.group)) + ")")
        with code.block():
            code(f"enum {{ SIZE = {size} }};")
            code("static const long sizes[SIZE] = {" + ", ".join(map(str, needed)) + "};")
            code("MPI_Win win;\nroom mirrors[SIZE], own;\nint me;\nMPI_Aint base[SIZE];")
            if step.how == "allocate":
                code("void *memory = NULL;")
            code(f"MPI_Comm_rank({self.comm.variable}, &me);\nmemset(base, 0, sizeof base);")
            code("for (int one = 0; one < SIZE; one++) {\n    run all = {0, 1, 1, 0};")
            code("    layout bytes = {MPI_BYTE, sizes[one], 1, 1, 1, &all};")
            code(
                f"    mirrors[one] = open_room(&bytes, sizes[one], HOLE({self.number}, one, 0), 0);"
            )
            code(
                "    if (one == me)\n        own = open_room(&bytes, sizes[one], "
                + f"HOLE({self.number}, one, 0), 0);\n}}"
            )
            self.open()
            for index, epoch in enumerate(step.epochs):
                self.epoch(index, epoch)
            code("MPI_Win_free(&win);")
            code("shut(&own);\nfor (int one = 0; one < SIZE; one++)\n    shut(&mirrors[one]);")
        return code.lines

    def open(self) -> None:
        code, comm, unit = self.code, self.comm.variable, self.step.unit
        match self.step.how:
            case "create":
                code(f"MPI_Win_create(own.at, sizes[me], {unit}, MPI_INFO_NULL, {comm}, &win);")
            case "allocate":
                code(f"MPI_Win_allocate(sizes[me], {unit}, MPI_INFO_NULL, {comm}, &memory, &win);")
                code("MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);\nif (sizes[me])")
                code("    memcpy(memory, own.at, (size_t)sizes[me]);\nMPI_Win_unlock(me, win);")
            case _:
                code(f"MPI_Win_create_dynamic(MPI_INFO_NULL, {comm}, &win);\nif (sizes[me])")
                code(
                    "    MPI_Win_attach(win, own.at, sizes[me]);\nMPI_Get_address(own.at,"
                    " &base[me]);"
                )
                code(
                    f"MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, base, 1, MPI_AINT, {comm});"
                )
        code(f"MPI_Barrier({comm});")

    def place(self, one: Access) -> str:
        """Where an access begins, as MPI wants it."""
        if self.step.how == "dynamic":
            return f"base[{one.target}] + {one.at}"
        return str(one.at // self.step.unit)

    # Epochs.

    def epoch(self, index: int, epoch: Epoch) -> None:
        code = self.code
        with code.block():
            code(f"/* Epoch {index}: {epoch.how}. */")
            if epoch.how in SPECIAL:
                self.special(index, epoch)
            else:
                self.accesses(index, epoch)
            self.compare(index)

    def accesses(self, index: int, epoch: Epoch) -> None:
        code, count = self.code, max(len(epoch.accesses), 1)
        code(
            f"layout out[{count}], in[{count}];\nroom from[{count}], to[{count}];\nMPI_Request"
            f" requests[{count}];"
        )
        code(
            "int open = 0;\n(void)out, (void)in, (void)from, (void)to, (void)requests, (void)open;"
        )
        for number, one in enumerate(epoch.accesses):
            self.prepare(index, number, one)
        passive = epoch.how.startswith("lock")
        if passive:
            code(f"MPI_Barrier({self.comm.variable});")
        for rank in range(len(self.group)):
            mine = [
                (number, one) for number, one in enumerate(epoch.accesses) if one.origin == rank
            ]
            if epoch.how.startswith("lock") and mine:
                code(f"if (me == {rank})")
                with code.block():
                    self.passive(epoch.how, mine)
        if epoch.how == "fence":
            flag = "MPI_MODE_NOPRECEDE" if epoch.salt & 1 else "0"
            code(f"MPI_Win_fence({flag}, win);")
            self.issue_all(epoch)
            code("MPI_Win_fence(MPI_MODE_NOSUCCEED, win);")
        elif epoch.how.startswith("groups"):
            self.groups(epoch)
        elif passive:
            code(f"MPI_Barrier({self.comm.variable});")
        # The reads' results, before the copies change; then the changes.
        for number, one in enumerate(epoch.accesses):
            if one.call in READS:
                code(f"if (me == {one.origin})")
                with code.block():
                    self.check(index, number, one)
        for number, one in enumerate(epoch.accesses):
            self.apply(index, number, one)
        for number, one in enumerate(epoch.accesses):
            code(f"if (me == {one.origin})\n    shut(&from[{number}]), shut(&to[{number}]);")

    def prepare(self, index: int, number: int, one: Access) -> None:
        code = self.code
        size = BASIC[one.basic]
        out, into = (
            shape(one.out, one.basic, one.elements),
            shape(one.into, one.basic, one.elements),
        )
        code(assign(f"out[{number}]", out))
        code(assign(f"in[{number}]", into))
        code(f"if (me == {one.origin})")
        with code.block():
            place = 64 * index + number
            for room, side in (("from", 1), ("to", 2)):
                hole = f"HOLE({self.number}, {place + 100}, {side})"
                code(
                    f"{room}[{number}] = open_room(&out[{number}], {out.count}, {hole},"
                    f" {one.shift * size});"
                )
            code(self.fill(index, number, one, f"from[{number}]"))

    def fill(self, index: int, number: int, one: Access, room: str) -> str:
        key = self.key(str(64 * index + number + 100))
        if one.call in ("Put", "Get"):
            return f"lay(&{room}, &out[{number}], 0, {one.elements * BASIC[one.basic]}, {key});"
        return (
            f'lay_values(&{room}, &out[{number}], 0, "{one.kind}", {one.elements}, {key},'
            f' "{one.op}");'
        )

    def issue(self, number: int, one: Access) -> None:
        """An access's call."""
        code = self.code
        out, into = (
            shape(one.out, one.basic, one.elements),
            shape(one.into, one.basic, one.elements),
        )
        far = f"{one.target}, {self.place(one)}, {into.count}, in[{number}].type"
        near = f"from[{number}].at, {out.count}, out[{number}].type"
        back = f"to[{number}].at, {out.count}, out[{number}].type"
        op = f'op_of("{one.op}")'
        words = {
            "Put": f"{near}, {far}",
            "Get": f"{back}, {far}",
            "Accumulate": f"{near}, {far}, {op}",
            "Get_accumulate": f"{near}, {back}, {far}, {op}",
            "Fetch_and_op": (
                f"from[{number}].at, to[{number}].at, {one.basic}, {one.target}, {self.place(one)},"
                f" {op}"
            ),
        }
        if one.call == "Compare_and_swap":
            # The current value, or another one: every second swap has no effect.
            code("{")
            code(
                "    static unsigned char expected[16];\n    memcpy(expected,"
                f" mirrors[{one.target}].at + {one.at}, 8);"
            )
            code(f"    expected[0] ^= {number % 2};")
            code(
                f"    MPI_Compare_and_swap(from[{number}].at, expected, to[{number}].at,"
                f" {one.basic}, {one.target},"
            )
            code(f"                         {self.place(one)}, win);\n}}")
            return
        if one.request:
            code(f"MPI_R{one.call.lower()}({words[one.call]}, win, &requests[open++]);")
        else:
            code(f"MPI_{one.call}({words[one.call]}, win);")

    def issue_all(self, epoch: Epoch) -> None:
        for number, one in enumerate(epoch.accesses):
            self.code(f"if (me == {one.origin}) {{")
            self.issue(number, one)
            self.code("}")

    def passive(self, how: str, mine: list[tuple[int, Access]]) -> None:
        code = self.code
        everywhere = how.startswith("lock_all")
        targets = sorted({one.target for _, one in mine})
        mode = "MPI_LOCK_EXCLUSIVE" if how == "lock exclusive" else "MPI_LOCK_SHARED"
        if everywhere:
            code("MPI_Win_lock_all(0, win);")
        # One after the other, as two ranks that each hold a lock and want the other's would wait
        # for ever.
        for target in [None] if everywhere else targets:
            if target is not None:
                code(f"MPI_Win_lock({mode}, {target}, 0, win);")
            for number, one in mine:
                if target is not None and one.target != target:
                    continue
                self.issue(number, one)
                if how == "lock_all flush" and number % 2:
                    code(
                        "MPI_Win_flush_all(win);"
                        if number % 4 == 1
                        else f"MPI_Win_flush({one.target}, win);"
                    )
                if how == "lock flush_local":
                    code(
                        "MPI_Win_flush_local_all(win);"
                        if number % 3 == 0
                        else f"MPI_Win_flush_local({one.target}, win);"
                    )
            code("MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);\nopen = 0;")
            if target is not None:
                code(f"MPI_Win_unlock({target}, win);")
        if everywhere:
            code("MPI_Win_unlock_all(win);")

    def groups(self, epoch: Epoch) -> None:
        code = self.code
        size = len(self.group)
        code("MPI_Group all, start, post;")
        for name, first, second in (
            ("targets", "origin", "target"),
            ("origins", "target", "origin"),
        ):
            rows = []
            for rank in range(size):
                those = {
                    getattr(one, second) for one in epoch.accesses if getattr(one, first) == rank
                }
                rows.append(
                    "{" + ", ".join(str(int(other in those)) for other in range(size)) + "}"
                )
            code(f"static const int {name}[SIZE][SIZE] = {{" + ", ".join(rows) + "};")
        code(f"MPI_Comm_group({self.comm.variable}, &all);")
        for group, table in (("start", "targets"), ("post", "origins")):
            code("{\n    int count = 0, those[SIZE];\n    for (int one = 0; one < SIZE; one++)")
            code(f"        if ({table}[me][one])\n            those[count++] = one;")
            code(f"    MPI_Group_incl(all, count, those, &{group});\n}}")
        code("MPI_Win_post(post, 0, win);\nMPI_Win_start(start, 0, win);")
        self.issue_all(epoch)
        code("MPI_Win_complete(win);")
        if epoch.how == "groups test":
            code("for (int flag = 0; !flag;)\n    MPI_Win_test(win, &flag);")
        else:
            code("MPI_Win_wait(win);")
        code("MPI_Group_free(&all);\nMPI_Group_free(&start);\nMPI_Group_free(&post);")
        code(f"MPI_Barrier({self.comm.variable});")

    # The expected result.

    def check(self, index: int, number: int, one: Access) -> None:
        code = self.code
        code(f"room picture = picture_of(&to[{number}]);")
        length = one.elements * BASIC[one.basic]
        code(
            f"move(&picture, &out[{number}], 0, &mirrors[{one.target}], &in[{number}], {one.at},"
            f" {length});"
        )
        code(
            f'same({self.number}, {64 * index + number}, "{one.call.lower()}", &to[{number}],'
            " &picture);"
        )

    def apply(self, index: int, number: int, one: Access) -> None:
        """To the copy of the target's window."""
        code, mirror = self.code, f"&mirrors[{one.target}]"
        key = self.key(str(64 * index + number + 100))
        if one.call == "Put":
            code(
                f"lay({mirror}, &in[{number}], {one.at}, {one.elements * BASIC[one.basic]}, {key});"
            )
        elif one.call == "Compare_and_swap":
            if number % 2 == 0:
                code(
                    f'lay_values({mirror}, &in[{number}], {one.at}, "{one.kind}", 1, {key},'
                    f' "{one.op}");'
                )
        elif one.call != "Get":
            code(
                f'accumulate({mirror}, &in[{number}], {one.at}, "{one.kind}", {one.elements},'
                f' {key}, "{one.op}");'
            )

    def compare(self, index: int) -> None:
        """The own window with its copy."""
        code = self.code
        code("MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);")
        if self.step.how == "allocate":
            code("if (sizes[me])\n    memcpy(own.at, memory, (size_t)sizes[me]);")
        code("room picture = picture_of(&own);\nif (sizes[me])")
        code("    memcpy(picture.at, mirrors[me].at, (size_t)sizes[me]);")
        code(f'same({self.number}, {index}, "window", &own, &picture);\nMPI_Win_unlock(me, win);')
        code(f"MPI_Barrier({self.comm.variable});")

    def special(self, index: int, epoch: Epoch) -> None:
        """All ranks' accesses to one place, with only their sum certain."""
        code = self.code
        target = epoch.salt % len(self.group)
        where = f"base[{target}]" if self.step.how == "dynamic" else "0"
        code(
            "uint64_t all[3 * SIZE], mine[3] = {0, 0, 0}, one = 1, zero = 0, before;\n(void)one,"
            " (void)zero;"
        )
        code(f"memcpy(&before, mirrors[{target}].at, 8);\nMPI_Barrier({self.comm.variable});")
        place = f"{target}, {where}"
        match epoch.how:
            case "tickets":
                code(
                    f"MPI_Win_lock(MPI_LOCK_SHARED, {target}, 0, win);\nfor (int turn = 0; turn <"
                    " 3; turn++) {"
                )
                code(
                    f"    MPI_Fetch_and_op(&one, &mine[turn], MPI_UINT64_T, {place}, MPI_SUM, win);"
                )
                code(f"    MPI_Win_flush({target}, win);\n}}\nMPI_Win_unlock({target}, win);")
            case "counter":
                code("for (int turn = 0; turn < 3; turn++) {")
                code(f"    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, {target}, 0, win);")
                code(f"    MPI_Get(&mine[turn], 1, MPI_UINT64_T, {place}, 1, MPI_UINT64_T, win);")
                code(f"    MPI_Win_flush({target}, win);\n    uint64_t more = mine[turn] + 1;")
                code(f"    MPI_Put(&more, 1, MPI_UINT64_T, {place}, 1, MPI_UINT64_T, win);")
                code(f"    MPI_Win_unlock({target}, win);\n}}")
            case _:
                # Swaps until each has been successful three times.
                code(
                    "for (int turn = 0; turn < 3; turn++) {\n    uint64_t seen = before, next,"
                    " found;"
                )
                code(
                    f"    MPI_Win_lock(MPI_LOCK_SHARED, {target}, 0, win);\n    for (;;) {{\n      "
                    "  next = seen + 1;"
                )
                code(
                    f"        MPI_Compare_and_swap(&next, &seen, &found, MPI_UINT64_T, {place},"
                    " win);"
                )
                code(
                    f"        MPI_Win_flush({target}, win);\n        if (found == seen)\n          "
                    "  break;"
                )
                code(
                    f"        seen = found;\n    }}\n    MPI_Win_unlock({target}, win);\n   "
                    " mine[turn] = seen;\n}"
                )
        code(f"MPI_Allgather(mine, 3, MPI_UINT64_T, all, 3, MPI_UINT64_T, {self.comm.variable});")
        code(
            "for (uint64_t ticket = before; ticket < before + 3 * SIZE; ticket++) {\n    int drawn"
            " = 0;"
        )
        code(
            "    for (int each = 0; each < 3 * SIZE; each++)\n        drawn += all[each] == ticket;"
        )
        code("    if (drawn != 1)")
        code(
            f'        wrong("step {self.number}, epoch {index}: a number was drawn %d times",'
            " drawn);\n}"
        )
        code(f"before += 3 * SIZE;\nmemcpy(mirrors[{target}].at, &before, 8);")


def window(step: Window, comm: Comm, number: int) -> Part:
    """A window from its creation to its end."""
    own = _Step(step, comm, number)
    title = f"a window by {step.how} in {comm.variable} {list(comm.groups[0])}: " + ", ".join(
        one.how for one in step.epochs
    )
    return Part(title, [], own.emit(), [])
