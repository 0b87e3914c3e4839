"""`elanite ask`: every command in the table parses, and the quick ones run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

import pytest

from conftest import Ended, command, execute
from elanite.cli.questions import QUESTIONS, Question
from printed import parse

Run = Callable[..., Ended]


def words(text: str) -> list[str]:
    return list(takewhile(lambda word: word != ">", shlex.split(text)))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_commands_parse_and_name_files_that_are_there(question: Question) -> None:
    written = set(question.files)
    for text in question.commands:
        assert text.startswith("elanite ")
        assert parse(words(text)) == "", text
        parts = shlex.split(text)
        if parts[1] == "new":
            rest = parts[3:]
            link = {parts[at]: parts[at + 1] for at in range(len(parts) - 1)}
            own = not rest[0].startswith("-")
            written.add(
                f"{rest[0] if own else link['--link'].lower() + '-' + link['--nodes']}.toml"
            )
        written |= {f"{Path(parts[2]).stem}.toml"} if parts[1] == "import" else set()
        written |= {parts[parts.index(">") + 1]} if ">" in parts else set()
        read = [
            each
            for each in words(text)[2:]
            if each.endswith((".toml", ".goal", ".csv", ".ibnetdiscover"))
        ]
        assert set(read) <= written, text


def test_a_command_that_does_not_parse_is_found() -> None:
    """A planted mistake."""
    assert "no such option" in parse(["elanite", "place", "m", "--jobb", "4:shift"]).lower()


@pytest.mark.slow
@pytest.mark.parametrize(
    "question", [each for each in QUESTIONS if each.quick], ids=lambda question: question.text
)
def test_quick_commands_run(question: Question, tmp_path: Path) -> None:
    for text in question.commands:
        ended = execute(command(*words(text)[1:]), cwd=tmp_path)
        assert ended.code == 0, f"{text}: {ended}"


def test_the_list_is_printed_and_searched(elanite: Run) -> None:
    every = json.loads(elanite("ask", "--format", "json").out)
    assert [each["text"] for each in every] == [each.text for each in QUESTIONS]
    some = elanite("ask", "oversubscription", "afford").out
    assert some.startswith("Which oversubscription can I afford?\n  elanite new machine")
    none = elanite("ask", "weather")
    assert none.code == 2
    assert "`elanite ask` lists all" in none.err
