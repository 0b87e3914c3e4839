"""Names of types: a noun for each, and no name for two public types.

`Config`, `Error` and `Kind` are read with their modules (`fabric::Config`, `elan::Config`). The words below are
participles, adverbs and pronouns, which say how something is and not what it is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHARED = {"Config", "Error", "Kind"}
NO_NOUNS = frozenset(
    re.findall(
        r"\w+",
        """
        About After Again Alone Allowed Asked Awaited Begun Beside Beyond Busy By Carried Chosen Coming Computed Dead
        Differing Due Early Exceeded Extended Far Fitted Foul Found Given Granted Happened Held How HowMany InLine
        Inside Kept Known Labelled Landed Left Long Looked Lost Made Manner Measured Moved Named Nameless Next Offered
        Onward Ordered Other Out Over Passed Picked Played Posted Recorded Refused Replayed Running Sampled Seen Sent
        Shown Shrunk Simulated Slow Sought Spent Spoken Started Stated Still Stray Stuck Studied Taken To Told Tried
        Trouble Typed UnderWay Used Varied Wanted What When Which Whole Written Wrong
        """,
    )
)
TYPE = r"^ *(pub(?:\([^)]*\))? )?(?:unsafe )?(?:struct|enum|trait|union|(?<! )type|(?<=pub )type) (\w+)"


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
    homes = {name: sorted(path for path in paths if paths[path]) for name, paths in types(crates).items()}
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
    b.write_text("struct Part;\npub enum Kind {}\nimpl Iterator for Part {\n    type Item = Part;\n}\n")
    assert not shared(tmp_path)
    assert types(tmp_path).keys() == {"Part", "Kind", "Told"}
    b.write_text("/// One.\npub type Part = u32;\n")
    assert shared(tmp_path) == {"Part": [a, b]}
