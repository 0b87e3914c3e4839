"""The replay on an ideal network against a second, independent one (``tests/ideal.py``), by random
traces.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import polars as pl
import pytest

import elanite as el
from elanite.traces.replay import UnfinishedReplay
from ideal import ANY, CALL, FROM, LATENCY, REMOTE, Network, Operation, Place, Result, Undecided
from spoiling import cases, fuzzing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BYTES = 4096


def drawn(draw: random.Random) -> list[list[Operation]]:
    """A trace with receives for most messages; wildcard receives may take other receives' messages.

    Polls are few, since one without a message has no end. Some traces have accesses to
    memory and active messages.

    Each rank begins with a computation with its own length, so that few moments are the same.
    """
    ranks = [[Operation("calc", draw.randrange(1, 100_000))] for _ in range(draw.randrange(2, 6))]
    accesses = draw.random() < 0.4
    for _ in range(draw.randrange(2, 30)):
        source, target = draw.sample(range(len(ranks)), 2)
        tag = draw.randrange(3)
        if accesses and draw.random() < 0.1:
            ranks[source].append(Operation(draw.choice(REMOTE), 8, target))
        if accesses and draw.random() < 0.05:
            ranks[source].append(Operation("put", 8, target, 1 + tag))
            ranks[target].append(Operation("await", 8, source, 1 + tag))
        if accesses and draw.random() < 0.1:
            ranks[source].append(Operation("active", 64, target, tag))
            if draw.random() < 0.98:
                ranks[target].append(Operation("handle", 64, source, tag))
        ranks[source].append(Operation("send", draw.randrange(1, BYTES), target, tag))
        wanted = (draw.choice([source, source, ANY]), draw.choice([tag, tag, ANY]))
        if draw.random() < 0.2:
            ranks[target].append(Operation(draw.choice(["probe"] * 7 + ["poll"]), BYTES, *wanted))
        if draw.random() < 0.98:
            ranks[target].append(Operation("recv", BYTES, *wanted))
        if draw.random() < 0.5:
            ranks[target].append(
                Operation("calc", draw.randrange(1, 20_000), cpu=draw.randrange(2))
            )
    for operations in ranks:
        if draw.random() < 0.5:
            operations[1:] = draw.sample(operations[1:], len(operations) - 1)
        for number, one in enumerate(operations[1:], 1):
            one.requires = {0}
            if draw.random() < 0.4:
                one.requires.add(draw.randrange(number))
            elif draw.random() < 0.3:
                one.irequires = {draw.randrange(number)}
    return ranks


def text(ranks: list[list[Operation]], pace: int) -> Iterator[str]:
    """The trace in GOAL."""
    if pace:
        yield f"//@ poll {pace} ns\n"
    yield f"num_ranks {len(ranks)}\n"
    for rank, operations in enumerate(ranks):
        yield f"rank {rank} {{\n"
        for number, one in enumerate(operations):
            way = "from" if one.kind in FROM else "to"
            what = (
                f"{one.size} cpu {one.cpu}"
                if one.kind == "calc"
                else f"{one.size}b {way} {one.peer}"
                + ("" if one.kind in REMOTE[1:] else f" tag {one.tag}")
            )
            yield f"l{number}: {one.kind} {what}\n"
        for number, one in enumerate(operations):
            yield from (f"l{number} requires l{other}\n" for other in sorted(one.requires))
            yield from (f"l{number} irequires l{other}\n" for other in sorted(one.irequires))
        yield "}\n"


def replayed(ranks: list[list[Operation]], pace: int, file: Path) -> Result:
    """The same by the simulator."""
    file.write_text("".join(text(ranks, pace)), encoding="utf-8")
    try:
        tables = el.replay(file, network="ideal", operations=True).tables
    except UnfinishedReplay as stopped:
        tables = stopped.replay.tables
    found = Result()
    rows = tables["operations"].with_columns(pl.col("free_us", "end_us") * 1000)
    for row in rows.iter_rows(named=True):
        place = (row["rank"], row["operation"])
        found.free[place], found.ends[place] = round(row["free_us"]), round(row["end_us"])
        if row["sender"] is not None:
            found.taken[place] = (row["sender"], row["sent_by"])
    for row in tables["waiting"].iter_rows(named=True):
        found.free[row["rank"], row["operation"]] = round(1000 * row["free_us"])
    return found


def test_the_ideal_network_is_that_of_the_words(tmp_path: Path) -> None:
    decided, kinds, early = 0, set[str](), 0
    for draw in cases("test_the_ideal_network_is_that_of_the_words", 400):
        ranks, pace = drawn(draw), draw.choice([0, 100, 330])
        try:
            wanted = Network(ranks, pace).run()
        except Undecided:
            continue
        found = replayed(ranks, pace, tmp_path / "trace.goal")
        assert found == wanted
        decided += 1
        early += len(found.ends) < sum(map(len, ranks))
        kinds |= {ranks[rank][number].kind for rank, number in found.ends}
    if not fuzzing():
        assert decided > 150, decided
        assert early > 20, early
        messages = {"send", "recv", "probe", "poll", "active", "handle", "await"}
        assert kinds == {"calc", *messages, *REMOTE}


class LowestSource(Network):
    """A receive takes the lowest source's message."""

    def message(self, fitting: list[Place]) -> Place:
        return min(fitting)


class LastMessage(Network):
    """A receive takes the message that has come last."""

    def message(self, fitting: list[Place]) -> Place:
        return fitting[-1]


class LastReceive(Network):
    """A message takes the receive that was posted last."""

    def receive(self, fitting: list[Place]) -> Place:
        return fitting[-1]


class BeforeItsCall(Network):
    """A message leaves when its send is free, though its call has not begun."""

    def leaves(self, _begin: int, free: int) -> int:
        return free


class AfterItsCall(Network):
    """A message leaves when its call ends."""

    def leaves(self, begin: int, _free: int) -> int:
        return begin + LATENCY // 4


class HastyAccess(Network):
    """An access to memory ends with its call."""

    def lasts(self, _one: Operation, takes: int) -> int:
        return takes


class SlowHandler(Network):
    """A handler takes a call of its processor."""

    def handled(self, place: Place, now: int) -> None:
        self.begins(place, now, CALL)


class RestlessPoll(Network):
    """A poll looks again immediately."""

    def pause(self) -> int:
        return 0


@pytest.mark.parametrize(
    "wrong",
    [
        LowestSource,
        LastMessage,
        LastReceive,
        BeforeItsCall,
        AfterItsCall,
        RestlessPoll,
        HastyAccess,
        SlowHandler,
    ],
)
def test_the_random_traces_tell_a_wrong_network(wrong: type[Network]) -> None:
    """With each of these mistakes, in either network, one of the first cases has another result."""
    for seed in range(200):
        ranks = drawn(random.Random(seed))
        try:
            if Network(ranks, 100).run() != wrong(ranks, 100).run():
                return
        except Undecided:
            continue
    pytest.fail("no trace tells it")
