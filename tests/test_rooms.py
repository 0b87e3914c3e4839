"""The crates' rooms, their modules: no circle among neighbours, no import against the layers, no
long file.
"""

from __future__ import annotations

import re
import runpy
import tomllib
from collections.abc import Iterator
from pathlib import Path

import networkx
import pytest

ROOT = Path(__file__).parents[1]
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
CRATES = [Path(member).name for member in MANIFEST["members"] if member.startswith("crates/")]
LONGEST = 600

Module = tuple[str, ...]
ASIDE = r"""//[^\n]*|/\*.*?\*/|r#".*?"#|'"'|"(?:\\.|[^"\\])*"|#\[cfg\(test\)\]\nmod \w+ \{.*?\n\}"""
ITEM = (
    r"^(?:pub(?:\(.*?\))? )?(?:const |unsafe |async"
    r" )*(?:struct|enum|trait|fn|type|const|static|macro_rules!) (\w+)"
)
USE = r"^ *(?:pub(?:\(.*?\))? )?use ([^;]+);"
INLINE = r"(?<![\w:])(?:crate|self|super)(?:::\w+)+"


def paths(tree: str) -> Iterator[Module]:
    """The paths in a `use` tree; a new name follows the word `as`."""
    around: list[Module] = [()]
    path: Module = ()
    for word in re.findall(r"[\w*]+|[{},]", tree + ","):
        if word == "{":
            around.append(path)
        elif word in "},":
            if path != around[-1]:
                yield path[:-1] if path[-1] == "self" else path
            if word == "}":
                around.pop()
            path = around[-1]
        else:
            path = (*path, word)


class Crate:
    """The references between a crate's modules; a re-export leads to the module that defines the
    name.
    """

    def __init__(self, source: Path) -> None:
        files = {
            path.relative_to(source).with_suffix("").parts: path for path in source.rglob("*.rs")
        }
        texts = {
            () if module == ("lib",) else module: re.sub(
                ASIDE, "", path.read_text(), flags=re.DOTALL
            )
            for module, path in files.items()
            if "tests" not in module
        }
        self.items = {
            module: set(re.findall(ITEM, text, flags=re.M)) for module, text in texts.items()
        }
        self.uses: dict[Module, list[tuple[str, Module]]] = {}
        self.graph = networkx.DiGraph()
        for module, text in texts.items():
            used = [path for tree in re.findall(USE, text, flags=re.M) for path in paths(tree)]
            self.uses[module] = [
                (path[-1], path[:-2] if path[-2:-1] == ("as",) else path) for path in used
            ]
        for module, text in texts.items():
            inline = [
                tuple(path.split("::"))
                for path in re.findall(INLINE, re.sub(USE, "", text, flags=re.M))
            ]
            for path in [*(path for _, path in self.uses[module]), *inline]:
                target = self.definer(module, path)
                if target is not None:
                    self.graph.add_edge(module, target)

    def definer(
        self, at: Module, path: Module, local: bool = False, seen: frozenset[object] = frozenset()
    ) -> Module | None:
        """The module that defines a path's first item, if it is in this crate."""
        if not path or (at, path) in seen:
            return at if local else None
        seen |= {(at, path)}
        head, rest = path[0], path[1:]
        inner = {"crate": (), "self": at, "super": at[:-1]}.get(head, (*at, head))
        if inner in self.items:
            return self.definer(inner, rest, True, seen)
        named = dict(self.uses[at]).get(head)
        if named is None or head in self.items[at]:
            return at if local else None
        used = self.definer(at, named, False, seen)
        return self.definer(used, rest, True, seen) if used and used[-1] == named[-1] else used

    def circles(self) -> Iterator[set[str]]:
        """Neighbours (modules in one folder) that name each other in a cycle."""
        for folder in {module[:depth] for module in self.items for depth in range(len(module))}:
            depth = len(folder) + 1
            inside = [
                edge
                for edge in self.graph.edges
                if all(module[: len(folder)] == folder for module in edge)
            ]
            rooms = networkx.DiGraph(
                (a[:depth], b[:depth]) for a, b in inside if len(a) >= depth and len(b) >= depth
            )
            for circle in networkx.strongly_connected_components(rooms):
                if len(circle) > 1:
                    yield {"::".join(room) for room in circle}


def tied(crate: str) -> set[str]:
    return set().union(*Crate(ROOT / "crates" / crate / "src").circles())


@pytest.mark.parametrize("crate", CRATES)
def test_no_rooms_name_each_other_in_a_circle(crate: str) -> None:
    assert not tied(crate)


def test_a_circle_through_a_re_export_is_found(tmp_path: Path) -> None:
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\npub use a::A;\n")
    (tmp_path / "a.rs").write_text("use crate::b::{self, B as Other};\npub struct A;\n")
    (tmp_path / "b.rs").write_text("pub struct B; // crate::a\n")
    assert not list(Crate(tmp_path).circles())
    (tmp_path / "b.rs").write_text("pub struct B;\nfn b(_: crate::A) {}\n")
    assert list(Crate(tmp_path).circles()) == [{"a", "b"}]


@pytest.mark.parametrize("crate", CRATES)
def test_a_crate_uses_only_the_layers_below_it(crate: str) -> None:
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())
    used = manifest.get("dependencies", {}).keys() | manifest.get("build-dependencies", {}).keys()
    assert used & set(CRATES) <= set(CRATES[: CRATES.index(crate)])


@pytest.mark.parametrize("crate", CRATES)
def test_the_front_page_of_a_crate_shows_its_rooms_and_one_path(crate: str) -> None:
    source = ROOT / "crates" / crate / "src"
    text = (source / "lib.rs").read_text()
    _, rooms, way = re.split(r"^//! ##? The (?:rooms|main path)$", text, flags=re.M)
    named = [
        name
        for row in re.findall(r"^//! \| (.*?) \|", rooms, flags=re.M)
        for name in re.findall(r"`(?:mod@)?(\w+)`", row)
    ]
    assert rooms.startswith("\n//!\n//! | room | contents |\n//! |---|---|\n")
    assert sorted(named) == sorted(
        set(re.findall(r"^(?:pub )?mod (\w+);", text, flags=re.M)) - {"tests"}
    )
    way = re.split(r"^(?!//!)|^//! #", way.lstrip(), flags=re.M)[0]
    steps = [int(number) for number in re.findall(r"^//! (\d+)\. `[\w/]+\.rs`", way, flags=re.M)]
    assert len(steps) > 1
    assert steps == list(range(1, len(steps) + 1))
    assert all((source / name).is_file() for name in re.findall(r"`([\w/]+\.rs)`", way))


def test_the_picture_of_the_crates_is_current() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "crates.py"))["drawn"]()
    assert (ROOT / "docs" / "crates.svg").read_text() == drawn, (
        "python docs/crates.py draws it anew"
    )


def test_the_table_of_the_crates_is_in_their_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    _, table = page.split("| crate | what it is |\n|---|---|\n")
    assert re.findall(r"^\| `([\w-]+)` \|", table.split("\n\n")[0], flags=re.M) == CRATES


def test_no_large_structure_of_the_fabric_is_spread() -> None:
    """More than 15 fields, and methods in more than four files."""
    fields, homes = {}, {}
    for path in (ROOT / "crates/fabric/src").rglob("*.rs"):
        text = path.read_text()
        for name, body in re.findall(
            r"^(?:pub.* )?struct (\w+).*? \{\n(.*?)^\}", text, flags=re.M | re.DOTALL
        ):
            fields[name] = len(re.findall(r"^    (?:pub(?:\(.*?\))? )?\w+: ", body, flags=re.M))
        for name in re.findall(r"^impl(?:<.*?>)? (\w+)", text, flags=re.M):
            homes.setdefault(name, set()).add(path)
    assert len(homes["Control"]) > 4
    assert fields["WormMover"] > 15
    assert not [
        name for name, count in fields.items() if count > 15 and len(homes.get(name, ())) > 4
    ]


def test_no_source_is_long() -> None:
    long = [
        path for path in (ROOT / "crates").rglob("*.rs") if path.read_text().count("\n") > LONGEST
    ]
    assert not long
