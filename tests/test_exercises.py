"""The exercises: every answer is a program, with its output on the page."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "exercises.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="not a checkout")


def test_answers_print_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    blocks = re.findall(
        r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?",
        PAGE.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert sum(bool(answer) for _, answer in blocks) >= 6
    for program, answer in blocks:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            exec(program, names)  # noqa: S102 - a page of ours
        assert shown.getvalue() == answer


def test_every_exercise_has_an_answer() -> None:
    exercises = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    assert len(exercises) >= 6
    for exercise in exercises:
        assert (
            exercise.count("<details><summary>Answer</summary>")
            == exercise.count("</details>")
            == 1
        ), exercise[:40]
        assert exercise.count("```text") == 1, exercise[:40]


def test_words_in_italics_are_in_the_glossary() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = {
        plain(word)
        for heading in re.findall(r"^## (.*)", page, re.MULTILINE)
        for word in heading.split(", ")
    }
    assert {"circuit", "eop", "tport", "rail", "saturation"} <= words
    text = page.split("\n## ", 1)[1]
    marked = [
        word for word in re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", text) if plain(word) not in words
    ]
    explained = {
        "reduced",
        "predicted",
        "deterministic descent",
        "saturation point",
        "experiment",
        "fitted",
        "rank",
    }
    assert set(marked) <= explained
    headings = [word.lower() for word in re.findall(r"^## (.*)", page, re.MULTILINE)]
    assert headings == sorted(headings)


def plain(word: str) -> str:
    """A word in the singular and in small letters."""
    return word.lower().removesuffix("s")
