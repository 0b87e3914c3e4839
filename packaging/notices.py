"""A wheel's third-party notices and bill of materials: the crates that are linked into its
libraries and programs.

``cargo metadata`` lists the crates, with the build's features and platform; test and build
dependencies are left out. Each crate brings its licence files. The explorer's page has its own
JavaScript, with the notices in ``explorer/licenses.md`` (``web/vite.config.ts``). The other pages'
JavaScript is not in the wheel: vl-convert-python has it, and pages that embed it have its notices
(``elanite.figures.vega``).

The bill is a CycloneDX 1.5 document, one component for each crate with its checksum in
``Cargo.lock``.
"""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "elanite"
ROOTS = ("elanite-py", "elanite-preload", "elanite-launch", "elanite-web")
"""The extension module, the ranks' library, their process manager, and the explorer's engine."""
NOTICES = "data/third-party.txt"
BILL = "data/third-party.cdx.json"
LICENCES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT")
"""Prefixes of licence file names."""


def crates(target: str | None = None) -> list[dict[str, Any]]:
    """The linked third-party crates, by name and version; ``target`` is a cross build's
    platform.
    """
    words = ["cargo", "metadata", "--format-version", "1", "--locked"]
    words += ["--filter-platform", target or _host()]
    found = json.loads(
        subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    )
    packages = {package["id"]: package for package in found["packages"]}
    needs = {
        node["id"]: [
            need["pkg"]
            for need in node["deps"]
            if any(one["kind"] is None for one in need["dep_kinds"])
        ]
        for node in found["resolve"]["nodes"]
    }
    todo = [identity for identity, package in packages.items() if package["name"] in ROOTS]
    linked: set[str] = set()
    while todo:
        identity = todo.pop()
        if identity not in linked:
            linked.add(identity)
            todo += needs[identity]
    others = [packages[identity] for identity in linked if packages[identity]["source"]]
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def notices(found: list[dict[str, Any]]) -> str:
    """The notices: each licence text once, below the crates that bring it."""
    texts: dict[str, list[str]] = {}
    for package in found:
        folder = Path(package["manifest_path"]).parent
        files = sorted(
            file
            for file in folder.iterdir()
            if file.is_file() and file.name.upper().startswith(LICENCES)
        )
        if not files:
            raise SystemExit(
                f"error: {package['name']} {package['version']} has no file of its licence in"
                f" {folder}"
            )
        named = f"{package['name']} {package['version']} ({package['license']})"
        for file in files:
            text = file.read_text(encoding="utf-8", errors="replace").strip()
            texts.setdefault(text, []).append(f"{named}: {file.name}")
    line = "-" * 80
    parts = ["\n".join([line, *names, line, "", text, ""]) for text, names in texts.items()]
    head = (
        "Elanite links the crates below, which others have written. Their licences ask for these"
        " notices.\n"
    )
    return "\n".join([head, *parts])


def bill(found: list[dict[str, Any]]) -> str:
    """The bill of materials, as JSON."""
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    sums = {(package["name"], package["version"]): package.get("checksum") for package in locked}
    components = [
        {
            "type": "library",
            "name": package["name"],
            "version": package["version"],
            "purl": f"pkg:cargo/{package['name']}@{package['version']}",
            "licenses": [{"expression": package["license"].replace("/", " OR ")}],
            "hashes": [{"alg": "SHA-256", "content": sums[package["name"], package["version"]]}],
        }
        for package in found
    ]
    about = {"component": {"type": "application", "name": "elanite"}, "properties": _properties()}
    whole = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": about,
        "components": components,
    }
    return json.dumps(whole, indent=1) + "\n"


def write(target: str | None = None) -> list[Path]:
    """Write both files into the package, and return them."""
    found = crates(target)
    texts = {NOTICES: notices(found), BILL: bill(found)}
    for name, text in texts.items():
        (PACKAGE / name).write_text(text, encoding="utf-8")
    return [PACKAGE / name for name in texts]


def _properties() -> list[dict[str, str]]:
    return [{"name": "linked into", "value": ", ".join(ROOTS)}]


def _host() -> str:
    said = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return next(line.split()[1] for line in said.splitlines() if line.startswith("host: "))
