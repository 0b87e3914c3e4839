"""OpenSHMEM's calls."""

from __future__ import annotations

from .steps import (
    Atomic,
    Collective,
    Locked,
    Operation,
    Operations,
    Place,
    Program,
    Signal,
    Ticket,
    Transfer,
    Twice,
)

COMPILER = "oshcc"

INTEGERS = {1: "schar", 2: "short", 4: "int", 8: "long"}
C_TYPES = {1: "signed char", 2: "short", 4: "int", 8: "long"}
CLASSIC = {"int16": "short", "int32": "int", "int64": "long"}


def at(place: Place) -> str:
    return f"(void *)({place.region} + {place.offset})"


def begin(program: Program) -> list[str]:
    lines = ["teams[0] = SHMEM_TEAM_WORLD;"]
    for number, group in enumerate(program.groups[1:], 1):
        words = f"{group.start}, {group.stride}, {group.size}, NULL, 0, &teams[{number}]"
        lines.append(f"shmem_team_split_strided(SHMEM_TEAM_WORLD, {words});")
    return lines


def end(_rank: int, _step: Operations) -> list[str]:
    return ["shmem_quiet();", "shmem_ctx_quiet(extra);"]


def operation(one: Operation) -> str:
    match one:
        case Transfer():
            return transfer(one)
        case Twice():
            first, second, to = at(one.first), at(one.second), at(one.theirs)
            order = "shmem_quiet();" if one.quiet else "shmem_fence();"
            return (
                f"shmem_putmem_nbi({to}, {first}, {one.bytes}, {one.other}); {order} "
                f"shmem_putmem_nbi({to}, {second}, {one.bytes}, {one.other});"
            )
        case Atomic():
            return atomic(one)
        case Ticket():
            return f"ticket({at(one.word)}, {at(one.sum)}, {one.operand}, {one.other});"
        case Locked():
            return f"locked({at(one.word)}, {one.operand}ull, {one.lock}, {one.other});"
        case Signal():
            return signal(one)
    raise ValueError(one)


def transfer(one: Transfer) -> str:
    """By the default context, or late by another one in half the cases."""
    put = one.way == "put"
    to, source = (at(one.theirs), at(one.mine)) if put else (at(one.mine), at(one.theirs))
    name, type_ = INTEGERS.get(one.bytes, ""), C_TYPES.get(one.bytes, "")
    context, argument = ("ctx_", "extra, ") if one.theirs.offset % 2 else ("", "")
    if one.how == "strided":
        mine, theirs = (stride // one.bytes for stride in one.strides)
        strides = f"{theirs}, {mine}" if put else f"{mine}, {theirs}"
        call = (
            f"shmem_{context}{name}_i{one.way}({argument}{to}, {source}, {strides}, {one.count},"
            f" {one.other});"
        )
    elif one.how == "one" and put:
        call = f"shmem_{context}{name}_p({argument}{to}, *({type_} *){source}, {one.other});"
    elif one.how == "one":
        call = f"*({type_} *){to} = shmem_{context}{name}_g({argument}{source}, {one.other});"
    else:
        kind = f"{name}_{one.way}" if one.how == "typed" else f"{one.way}mem"
        count = 1 if one.how == "typed" else one.bytes
        call = (
            f"shmem_{context}{kind}{'_nbi' * one.late}({argument}{to}, {source}, {count},"
            f" {one.other});"
        )
    return call


def atomic(one: Atomic) -> str:
    name, type_, word = f"uint{8 * one.bytes}", f"uint{8 * one.bytes}_t", at(one.theirs)
    operands = {"fetch": "", "inc": "", "compare_swap": f"{one.compare}ull, {one.operand}ull, "}
    arguments = f"{word}, {operands.get(one.name, f'{one.operand}ull, ')}{one.other}"
    if one.fetched is None:
        return f"shmem_{name}_atomic_{one.name}({arguments});"
    call = one.name if one.name in ("fetch", "swap", "compare_swap") else f"fetch_{one.name}"
    if one.late:
        return f"shmem_{name}_atomic_{call}_nbi({at(one.fetched)}, {arguments});"
    return f"*({type_} *){at(one.fetched)} = shmem_{name}_atomic_{call}({arguments});"


def signal(one: Signal) -> str:
    word, value = f"(uint64_t *)&signals[{one.number}]", 1000 + one.number
    data = f"{at(one.theirs)}, {at(one.mine)}, {one.bytes}"
    if one.how == "put":
        return (
            f"shmem_putmem({data}, {one.other}); shmem_fence(); shmem_uint64_p({word}, {value},"
            f" {one.other});"
        )
    form = "_nbi" if one.how == "call_nbi" else ""
    kind = "SHMEM_SIGNAL_ADD" if one.how == "call_add" else "SHMEM_SIGNAL_SET"
    return f"shmem_putmem_signal{form}({data}, {word}, {value}, {kind}, {one.other});"


def collective(program: Program, call: Collective) -> str:
    group = program.groups[call.group]
    to, source, count = at(call.target), at(call.source), str(call.count)
    if call.kind == "collect":
        places = "".join(
            f"me == {rank} ? {place % 3} : " for place, rank in enumerate(group.members)
        )
        count += f" + ({places}0)"
    active = f"{group.start}, {group.stride.bit_length() - 1}, {group.size}, sync_words"
    team = f"teams[{call.group}]"
    classic = call.how == "active"
    bits = call.type.removeprefix("u").removeprefix("int")
    into, out = call.strides
    match call.kind:
        case "barrier":
            return f"shmem_barrier({active});" if classic else f"shmem_team_sync({team});"
        case "reduce" if classic:
            type_ = CLASSIC[call.type]
            work = f"({type_} *)sync_words"
            return (
                f"shmem_{type_}_{call.operation}_to_all({to}, {source}, {count}, {group.start},"
                f" {group.stride.bit_length() - 1}, {group.size}, {work}, sync_words);"
            )
        case "reduce":
            return f"shmem_{call.type}_{call.operation}_reduce({team}, {to}, {source}, {count});"
        case "broadcast" if classic:
            return f"shmem_broadcast{bits}({to}, {source}, {count}, {call.root}, {active});"
        case "broadcast":
            return f"shmem_{call.type}_broadcast({team}, {to}, {source}, {count}, {call.root});"
        case "alltoall" if call.strides != (1, 1):
            strides = f"{into}, {out}, {count}"
            if classic:
                return f"shmem_alltoalls{bits}({to}, {source}, {strides}, {active});"
            return f"shmem_{call.type}_alltoalls({team}, {to}, {source}, {strides});"
        case _ if classic:
            return f"shmem_{call.kind}{bits}({to}, {source}, {count}, {active});"
    return f"shmem_{call.type}_{call.kind}({team}, {to}, {source}, {count});"
