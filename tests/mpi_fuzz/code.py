"""Lines of C."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .layouts import Shape


class Code:
    """Lines with their block's indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 0

    def __call__(self, text: str) -> None:
        self.lines += ["    " * self._depth + line if line else line for line in text.split("\n")]

    @contextmanager
    def block(self) -> Iterator[None]:
        self("{")
        self._depth += 1
        yield
        self._depth -= 1
        self("}")

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"


@dataclass
class Part:
    """A step: its variables, its beginning, and its end, which may come later."""

    title: str
    variables: list[str]
    begin: list[str]
    end: list[str]


def cases(lines: Mapping[int, Sequence[str]]) -> list[str]:
    """Each MPI_COMM_WORLD rank's code; ranks with equal code share a case."""
    same: dict[tuple[str, ...], list[int]] = {}
    for rank, own in lines.items():
        if own:
            same.setdefault(tuple(own), []).append(rank)
    if not same:
        return []
    code = Code()
    code("switch (rank)")
    with code.block():
        for text, those in same.items():
            for rank in those:
                code(f"case {rank}:")
            with code.block():
                for line in text:
                    code(line)
                code("break;")
    return code.lines


def assign(variable: str, shape: Shape) -> str:
    """The statement that puts a layout into a variable."""
    runs = ", ".join(
        f"{{{at}, {length}, {times}, {step}}}" for at, length, times, step in shape.runs
    )
    return f"SHAPE({variable}, {shape.type}, {shape.count}, {shape.extent}, {runs});"
