"""Mutants of Rust code behind switches: the planted changes, and the survivor ledger."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("tree_sitter_rust")

from mutants.rust.__main__ import LEDGER, accepted
from mutants.rust.planting import culprits, mutants, planted
from mutants.rust.workspace import CRATES, all_mutants, sample

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
const LIMIT: [u32; 2] = [1 + 2; 2];

struct Kind(u32);

impl Kind {
    const fn least() -> u32 { 1 }

    fn of(&mut self, one: u32, two: u32) -> u32 {
        let mut list: Vec<u32> = Vec::with_capacity(3);
        if one < two && self.0 > one + 5 {
            self.0 += one;
            list.push(one);
            return 9;
        }
        while let Some(last) = list.pop() {
            if last == two { break; }
        }
        match one {
            1..=2 if two != 4 => one.max(two),
            _ => two * 2,
        }
    }
}

#[cfg(test)]
mod tests {
    fn two() -> u32 { 1 + 1 }
}

fn main() {
    assert_eq!(LIMIT[1] + Kind::least(), 4);
    let all = [(1, 2, 9), (3, 2, 0), (1, 3, 0), (9, 9, 9), (2, 4, 0), (1, 9, 0)];
    for (one, two, kind) in all {
        let mut own = Kind(kind);
        print!("{} {} ", own.of(one, two), own.0);
    }
}
"""
CHANGES = {
    "Kind::of: one < two && self.0 > one + 5 -> ||",
    "Kind::of: one < two -> <=",
    "Kind::of: one < two -> >=",
    "Kind::of: self.0 > one + 5 -> >=",
    "Kind::of: self.0 > one + 5 -> <=",
    "Kind::of: one + 5 -> -",
    "Kind::of: 5 -> 5 + 1",
    "Kind::of: self.0 += one; -> (none)",
    "Kind::of: self.0 += one -> -=",
    "Kind::of: list.push(one); -> (none)",
    "Kind::of: return 9; -> (none)",
    "Kind::of: 9 -> 9 + 1",
    "Kind::of: last == two -> !=",
    "Kind::of: break -> continue",
    "Kind::of: two != 4 -> ==",
    "Kind::of: 4 -> 4 + 1",
    "Kind::of: one.max(two) -> min",
    "Kind::of: two * 2 -> /",
    "Kind::of: 2 -> 2 + 1",
}


def short(name: str) -> str:
    return name.removeprefix("example.rs: ")


def test_each_mutant_changes_one_expression() -> None:
    found = {short(one.name) for one in mutants("example.rs", SOURCE.encode())}
    assert {name for name in found if not name.startswith("main")} == CHANGES


def test_all_mutants_are_in_one_program(tmp_path: Path) -> None:
    rustc = shutil.which("rustc") or pytest.skip("no rustc")
    all_ = [one for one in mutants("example.rs", SOURCE.encode()) if one.function == "Kind::of"]
    content, _ = planted(SOURCE.encode(), dict(enumerate(all_)))
    switch = "mod mutant { pub fn on(number: usize) -> bool { number == super::number() } }\n"
    number = "fn number() -> usize { std::env::args().nth(1).unwrap().parse().unwrap() }\n"
    text = content.decode().replace("::mutant", "mutant") + switch + number
    (tmp_path / "example.rs").write_text(text, encoding="utf-8")
    subprocess.run([rustc, "--edition=2024", "-Awarnings", "example.rs"], cwd=tmp_path, check=True)

    def run(number: int) -> str:
        program = [str(tmp_path / "example"), str(number)]
        return subprocess.run(program, capture_output=True, text=True, check=False).stdout

    usual = run(len(all_))
    assert usual == "9 10 4 0 3 0 18 9 8 0 9 0 "
    alike = {short(one.name) for number, one in enumerate(all_) if run(number) == usual}
    assert alike == {
        # nobody asks for the list
        "Kind::of: list.push(one); -> (none)",
        "Kind::of: last == two -> !=",
        "Kind::of: break -> continue",
        # no pair is equal and no kind near
        "Kind::of: one < two -> <=",
        "Kind::of: self.0 > one + 5 -> >=",
        "Kind::of: 5 -> 5 + 1",
    }


def test_errors_of_the_compiler_belong_to_the_innermost_mutant() -> None:
    source = b"fn f(a: u32, b: u32) -> bool { a + 1 < b }"
    chosen = dict(enumerate(mutants("f.rs", source)))
    content, regions = planted(source, chosen)
    names = {number: one.change for number, one in chosen.items()}
    place = content.index(b"(a) - (1)")
    (number,) = culprits(regions, place, place + 9)
    assert names[number] == "a + 1 -> -"
    assert culprits(regions, 0, 2) == []


def test_samples_are_drawn_by_the_seed() -> None:
    names = [[one.name for _, one in sample(seed, 5)] for seed in (3, 3, 4)]
    assert names[0] == names[1] != names[2]
    assert len(names[0]) == len(set(names[0])) == 5 * len(CRATES)


def test_the_ledger_names_mutants_that_there_are() -> None:
    names = [one.name for crate in CRATES for _, one in all_mutants(crate)]
    assert len(set(names)) == len(names) > 10_000
    entries = tomllib.loads(LEDGER.read_text(encoding="utf-8"))["accepted"]
    listed = [name for entry in entries for name in entry["mutants"]]
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(names)
    assert all(reason.strip() for reason in accepted().values())
