"""Elanlib's calls."""

from __future__ import annotations

from . import steps

COMPILER = "elancc"


def at(place: steps.Place) -> str:
    return f"(void *)({place.region} + {place.offset})"


def begin(program: steps.Program) -> list[str]:
    lines = ["groups[0] = base->allGroup;"]
    for number, group in enumerate(program.groups[1:], 1):
        members = list(group.members)
        condition = " || ".join(f"me == {rank}" for rank in members)
        vps = ", ".join(map(str, members))
        lines += [
            f"if ({condition})",
            f"    groups[{number}] = elan_group(base, (unsigned[]){{{vps}}}, {len(members)});",
        ]
    return lines


def end(rank: int, step: steps.Operations) -> list[str]:
    """First the messages queued for this rank, since their senders would wait."""
    count = sum(isinstance(one, steps.Queued) and one.other == rank for _, one in step.all)
    sent = [one.message for _, one in step.all if isinstance(one, steps.Send) and one.rank == rank]
    ends = [f"elan_tportTxWait(receives[{5000 + one.number}]);" for one in sent]
    return [f"drain({count});" if count else "", *ends, "settle();"]


def operation(one: steps.Operation) -> str:
    match one:
        case steps.Transfer():
            if one.late:
                return f"later({transfer(one)});"
            return f"elan_wait({transfer(one)}, base->waitType);"
        case steps.Twice():
            first, second, to = at(one.first), at(one.second), at(one.theirs)
            return (
                f"elan_wait(elan_put(state, {first}, {to}, {one.bytes}, {one.other}),"
                f" base->waitType); later(elan_put(state, {second}, {to}, {one.bytes},"
                f" {one.other}));"
            )
        case steps.Locked():
            return f"locked({at(one.word)}, {one.operand}ull, {one.lock}, {one.other});"
        case steps.Signal():
            value, word = 1000 + one.number, f"(void *)&signals[{one.number}]"
            put = f"elan_put(state, {at(one.mine)}, {at(one.theirs)}, {one.bytes}, {one.other})"
            flag = f"elan_put(state, &(uint64_t){{{value}}}, {word}, 8, {one.other})"
            return f"elan_wait({put}, base->waitType); later({flag});"
        case steps.Post():
            return post(one.message)
        case steps.Send():
            flag, message = "ELAN_TPORT_TXSYNC" if one.message.sync else "0", one.message
            return (
                f"receives[{5000 + message.number}] = elan_tportTxStart(tport, {flag},"
                f" {message.other}, me, {message.tag}, {at(message.mine)}, {message.bytes});"
            )
        case steps.Finish():
            return finish(one.message)
        case steps.Queued():
            into = f"{steps.REGIONS.index(one.into.region)}, {one.into.offset}"
            return f"enqueue({one.other}, {into}, {at(one.mine)}, {one.bytes});"
    raise ValueError(one)


def transfer(one: steps.Transfer) -> str:
    put = one.way == "put"
    source, to = (one.mine, one.theirs) if put else (one.theirs, one.mine)
    strides = one.strides if put else one.strides[::-1]
    if one.how == "plain":
        return f"elan_{one.way}(state, {at(source)}, {at(to)}, {one.bytes}, {one.other})"
    if one.how == "control":
        event = "0, " if put else ""
        return (
            f"elan_do{one.way}(control, {at(source)}, {at(to)}, {event}{one.bytes}, {one.other}, 0)"
        )
    if one.how == "strided":
        words = ", ".join(f"(int[]){{{stride}}}" for stride in strides)
        counts = f"(unsigned[]){{{one.bytes}, {one.count}}}"
        return (
            f"elan_{one.way}ss(control, {at(source)}, {at(to)}, {words}, {counts}, 1, {one.other})"
        )
    pieces = [
        ", ".join(
            at(steps.Place(place.region, place.offset + piece * stride))
            for piece in range(one.count)
        )
        for place, stride in ((source, strides[0]), (to, strides[1]))
    ]
    vectors = ", ".join(f"(void *[]){{{piece}}}" for piece in pieces)
    return f"elan_{one.way}v(control, {vectors}, {one.bytes}, {one.count}, {one.other})"


def post(message: steps.Message) -> str:
    mask = {"both": -1, "tag": 0, "mask": 1}[message.match]
    return (
        f"receives[{message.number}] = elan_tportRxStart(tport, 0, {mask}, {message.rank}, -1,"
        f" {message.tag}, {at(message.into)}, {message.bytes});"
    )


def finish(message: steps.Message) -> str:
    wait = f"elan_tportRxWait(receives[{message.number}], &sender, &tag, &size);"
    check = f"sender != {message.rank} || tag != {message.tag} || size != {message.bytes}"
    return f"{{ int sender, tag; size_t size; {wait} if ({check}) abort(); }}"


def collective(_program: steps.Program, call: steps.Collective) -> str:
    group = f"groups[{call.group}]"
    to, source = at(call.target), at(call.source)
    size = int(call.type.removeprefix("u").removeprefix("int")) // 8
    block = size * call.count
    match call.kind:
        case "barrier":
            return f"elan_{'h' * (call.how == 'hardware')}gsync({group});"
        case "broadcast" if call.how == "hardware":
            return f"elan_hbcast({group}, {to}, {block}, {call.root}, ELAN_GLOBAL_DEST);"
        case "broadcast":
            return f"elan_bcast({group}, {to}, {block}, {call.root}, 0);"
        case "reduce":
            element, function = (16, "matrix") if call.operation == "matrix" else (8, "sum")
            flags = ["ELAN_RESULT_ALL"] * (call.how == "all") + ["ELAN_REDUCE_COMMUTE"] * (
                call.operation == "sum"
            )
            return (
                f"elan_reduce({group}, {source}, {to}, {element}, {call.count}, {function}, NULL,"
                f" 0, 0, {' | '.join(flags) or '0'}, {call.root});"
            )
        case "gather":
            return f"elan_gather({group}, {source}, {to}, {block}, {call.root}, 0);"
        case "alltoall":
            return f"elan_alltoall({group}, {source}, {to}, {block}, 0);"
    raise ValueError(call.kind)
