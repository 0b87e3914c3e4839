"""Names of types: a noun for each, and no name for two public types, in Rust and in Python.

`Config`, `Error` and `Kind` are read with their crates' modules (`fabric::Config`, `elan::Config`).
The words below are participles, adverbs and pronouns, which say how something is and not what it
is.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHARED = {"Config", "Error", "Kind"}
NO_NOUNS = frozenset(
    re.findall(
        r"\w+",
        """
        About After Again Alone Allowed Asked Awaited Begun Beside Beyond Busy By Carried Chosen
        Coming Computed Dead Differing Due Early Exceeded Extended Far Fitted Foul Found Given
        Granted Happened Held How HowMany InLine Inside Kept Known Labelled Landed Left Long Looked
        Lost Made Manner Measured Moved Named Nameless Next Offered Onward Ordered Other Out Over
        Passed Picked Played Posted Recorded Refused Replayed Running Sampled Seen Sent Shown Shrunk
        Simulated Slow Sought Spent Spoken Started Stated Still Stray Stuck Studied Taken To Told
        Tried Trouble Typed UnderWay Used Varied Wanted What When Which Whole Written Wrong
        """,
    )
)
COMMANDS = {"Replay", "Run", "Sweep"}
"""Python names of a command, which has its verb's name, and of the result that the library
returns.
"""
NO_CLASSES = NO_NOUNS | frozenset(
    re.findall(
        r"\w+",
        """
        Along Called Changed Checked Compared ComparedAs Ended Finished Grouped Identified InOrder
        Irregular Measuring Merged OfClaims OfNccl Opened Packed Published Ranked Studied Translated
        Turned Unfinished Verified
        """,
    )
)
NO_FUNCTIONS = frozenset(
    re.findall(
        r"\w+",
        """
        again alike alone apart aside at_the_end behind beside deaths few forsaken grown growing
        lacking looked meant most ours over said says sought spoken still surely tied together told
        took up_to went_on whose worn
        """,
    )
)
"""Adverbs, participles and other riddles as names of functions."""
NO_MODULES = frozenset(
    re.findall(
        r"\w+",
        """
        ablated animated asked assumed beside compared combined former hottest identify imported
        kept measured moved published recognise select studied together vary where worded
        """,
    )
)
"""Participles, adverbs and verbs as names of Python modules. A command has its verb's name."""
TYPE = (
    r"^ *(pub(?:\([^)]*\))? )?(?:unsafe )?(?:struct|enum|trait|union|(?<! )type|(?<=pub )type)"
    r" (\w+)"
)


def types(crates: Path) -> dict[str, dict[Path, bool]]:
    """The files that define each name, and whether the type is public there."""
    found: dict[str, dict[Path, bool]] = defaultdict(dict)
    for path in crates.glob("*/src/**/*.rs"):
        if "tests" not in path.with_suffix("").parts:
            for public, name in re.findall(TYPE, path.read_text(), flags=re.M):
                found[name][path] = public == "pub " or found[name].get(path, False)
    return found


def shared(crates: Path) -> dict[str, list[Path]]:
    """Names of several public types, but those that are read with their modules."""
    homes = {
        name: sorted(path for path in paths if paths[path]) for name, paths in types(crates).items()
    }
    return {name: paths for name, paths in homes.items() if len(paths) > 1 and name not in SHARED}


def test_no_two_public_types_have_one_name() -> None:
    assert not shared(ROOT / "crates")


def test_types_have_nouns_as_names() -> None:
    assert not NO_NOUNS & types(ROOT / "crates").keys()


def test_shared_names_are_found(tmp_path: Path) -> None:
    a, b = (tmp_path / name / "src" / "lib.rs" for name in "ab")
    for path in (a, b):
        path.parent.mkdir(parents=True)
    a.write_text("pub struct Part;\npub enum Kind {}\npub(crate) struct Told;\n")
    b.write_text(
        "struct Part;\npub enum Kind {}\nimpl Iterator for Part {\n    type Item = Part;\n}\n"
    )
    assert not shared(tmp_path)
    assert types(tmp_path).keys() == {"Part", "Kind", "Told"}
    b.write_text("/// One.\npub type Part = u32;\n")
    assert shared(tmp_path) == {"Part": [a, b]}


def definitions(package: Path, kind: type[ast.ClassDef | ast.FunctionDef]) -> dict[str, list[Path]]:
    """The Python modules that define each class or function."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, kind):
                found[node.name].append(path)
    return found


def shared_classes(package: Path) -> dict[str, list[Path]]:
    """Names of several public classes."""
    names = definitions(package, ast.ClassDef)
    return {
        name: paths for name, paths in names.items() if len(paths) > 1 and not name.startswith("_")
    }


def test_no_two_public_classes_have_one_name() -> None:
    assert shared_classes(ROOT / "python").keys() == COMMANDS


def test_classes_and_functions_have_plain_names() -> None:
    for kind, words in ((ast.ClassDef, NO_CLASSES), (ast.FunctionDef, NO_FUNCTIONS)):
        names = {
            name.lstrip("_"): paths for name, paths in definitions(ROOT / "python", kind).items()
        }
        assert not {name: paths for name, paths in names.items() if name in words}, kind


def test_shared_classes_are_found(tmp_path: Path) -> None:
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    a.write_text("class Part:\n    pass\n\n\nclass _Told:\n    pass\n")
    b.write_text("class Part:\n    pass\n\n\nclass _Told:\n    pass\n\n\ndef said():\n    pass\n")
    assert shared_classes(tmp_path) == {"Part": [a, b]}
    assert definitions(tmp_path, ast.ClassDef).keys() == {"Part", "_Told"}
    assert definitions(tmp_path, ast.FunctionDef).keys() == {"said"}


def test_python_modules_have_nouns_for_names() -> None:
    package = ROOT / "python" / "elanite"
    found = [path for path in package.rglob("*.py") if path.parent.name != "cli"]
    assert not [path for path in found if path.stem in NO_MODULES]
