"""The hosting site's workflows do only steps that also run locally: they call ``.ci/run`` and
Makefile targets.

A workflow runs elsewhere, where no test of ours sees it fail. So its words are compared with the
Makefile, its actions are pinned by commits, and its oldest Rust is the one that ``Cargo.toml``
promises.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))

INSTALLS = re.compile(r"(rustup toolchain install|apt-get update|cargo install --locked) ")
"""Steps that put a compiler or a tool on the host."""

PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


def read(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def values(job: dict[str, Any], key: str) -> list[str]:
    """The meaning of ``matrix.KEY`` in a job."""
    matrix = job["strategy"]["matrix"]
    return [str(each) for each in matrix.get(key, [])] + [
        str(each[key]) for each in matrix.get("include", [])
    ]


def commands(job: dict[str, Any]) -> list[str]:
    """A job's commands, once for each matrix value."""
    found = []
    for step in job["steps"]:
        words = step.get("run", "")
        if named := re.search(r"\$\{\{ matrix\.(\w+) \}\}", words):
            found += [words.replace(named[0], value) for value in values(job, named[1])]
        elif words:
            found.append(words)
    return found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_jobs_call_targets_of_the_makefile(path: Path) -> None:
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    for name, job in read(path)["jobs"].items():
        called = [each for each in commands(job) if not INSTALLS.match(each)]
        assert called, name
        for command in called:
            made = re.fullmatch(r"make ([a-z-]+)(?: [A-Z]+=\w+)*", command)
            assert command == ".ci/run" or (made and made[1] in targets), command


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_jobs_end(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert 0 < job["timeout-minutes"] <= 360
        actions = [step for step in job["steps"] if "uses" in step]
        assert all(PINNED.fullmatch(step["uses"]) for step in actions)
        assert all(
            step["with"]["persist-credentials"] is False
            for step in actions
            if step["uses"].startswith("actions/checkout@")
        )


def test_a_release_has_the_targets_of_its_wheels_and_of_the_page() -> None:
    wheels = re.search(
        r"^TARGETS = \((.*)\)$",
        (ROOT / "packaging" / "release.py").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    page = re.search(
        r"^WASM := (\S+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert wheels
    assert page
    job = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["files"]
    installed = re.search(r"--target (\S+)", " ".join(commands(job)))
    assert installed
    assert set(installed[1].split(",")) == {*re.findall(r'"(\S+)"', wheels[1]), page[1]}


def test_the_oldest_rust_is_the_promised_one() -> None:
    promised = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"][
        "package"
    ]["rust-version"]
    image = f"docker.io/library/rust:{promised}-bookworm"
    jobs = [job for path in WORKFLOWS for job in read(path)["jobs"].values()]
    containers = {job["container"] for job in jobs if "container" in job}
    assert containers == {image}
    assert f"FROM {image} AS build" in (ROOT / "Containerfile").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem
)
def test_forms_have_fields(path: Path) -> None:
    form = read(path)
    if path.stem == "config":
        assert form["contact_links"]
        return
    assert form["name"]
    assert form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len(set(ids)) == len(ids) > 1
    assert all(
        field["type"] in {"input", "textarea", "dropdown"} and field["attributes"]["label"]
        for field in form["body"]
    )
