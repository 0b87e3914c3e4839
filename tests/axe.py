"""Accessibility of pages: the violations that axe finds, with the version that ``web/``
installs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

SCRIPT = Path(__file__).parents[1] / "web" / "node_modules" / "axe-core" / "axe.min.js"

INSTALLED = SCRIPT.is_file()
"""Whether ``npm ci`` in ``web/`` has installed it."""


def violations(page: Page) -> list[tuple[str, list[str]]]:
    """The violated rules, each with the elements that violate it."""
    page.add_script_tag(path=SCRIPT)
    found = page.evaluate("axe.run()")
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]]
