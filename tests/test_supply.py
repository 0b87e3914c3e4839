"""Elanite's dependencies: fetched by checksum, from the registries alone, with their authors'
notices.
"""

from __future__ import annotations

import json
import re
import runpy
import shutil
import tomllib
from pathlib import Path

import pytest

from elanite.figures import vega

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(not (ROOT / "Cargo.lock").exists(), reason="not a checkout")
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


@pytest.mark.parametrize("lock", ["Cargo.lock", "fuzz/Cargo.lock"])
def test_crates_of_others_come_from_the_registry_with_a_checksum(lock: str) -> None:
    packages = tomllib.loads((ROOT / lock).read_text(encoding="utf-8"))["package"]
    others = [package for package in packages if "source" in package]
    assert len(others) > 50
    assert [
        one["name"]
        for one in others
        if one["source"] != REGISTRY or len(one.get("checksum", "")) != 64
    ] == []


def test_python_packages_are_locked_with_hashes_and_installed_by_them() -> None:
    locks = {"requirements.lock": 20, "requirements-container.lock": 20}
    locks |= {"requirements-paper.lock": 1, "requirements-release.lock": 2}
    locks |= {"requirements-programs.lock": 0}
    for name, least in locks.items():
        entries = re.split(r"\n(?=\S)", (ROOT / name).read_text(encoding="utf-8"))
        pinned = [entry for entry in entries if not entry.startswith("#") and entry.strip()]
        assert len(pinned) > least
        assert [
            entry.split()[0]
            for entry in pinned
            if "==" not in entry or "--hash=sha256:" not in entry
        ] == []
    for file in ("Makefile", "Containerfile"):
        lines = (ROOT / file).read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
        installs = [
            line
            for line in lines
            if "pip install" in line and "--no-deps" not in line and " uv" not in line
        ]
        wrong = [
            line
            for line in installs
            if not re.search(r"--require-hashes\s+--requirement \S*requirements\S*lock", line)
        ]
        assert [line for line in wrong if not line.startswith("#")] == [], file


def test_the_container_has_the_versions_of_the_tests() -> None:
    def versions(name: str) -> dict[str, str]:
        text = (ROOT / name).read_text(encoding="utf-8")
        return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE))

    tested, shipped = versions("requirements.lock"), versions("requirements-container.lock")
    assert shipped.items() <= tested.items()


@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo lists the crates")
def test_a_wheel_names_all_crates_that_it_links() -> None:
    module = runpy.run_path(str(ROOT / "packaging" / "notices.py"))
    found = module["crates"]()
    names = {package["name"] for package in found}
    assert {"pyo3", "rustix", "serde"} <= names
    assert not {name for name in names if name.startswith("elanite")}
    assert not names & {"proptest", "insta", "loom"}  # of tests
    text, bill = module["notices"](found), json.loads(module["bill"](found))
    for package in found:
        assert f"{package['name']} {package['version']} ({package['license']}): " in text
    assert {component["name"] for component in bill["components"]} == names
    assert all(len(component["hashes"][0]["content"]) == 64 for component in bill["components"])


def test_pages_have_the_notices_of_their_script() -> None:
    script = vega.libraries()
    for holder in (
        "University of Washington Interactive Data Lab",
        "Mike Bostock",
        "Joachim Wester",
        "Simon Lydell",
    ):
        assert holder in script[:20_000]
    assert script.index("*/") < script.index("vegaEmbed")
