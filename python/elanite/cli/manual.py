"""The manual page of ``elanite man``, from the command declarations.

The page has the sections of man-pages(7): a synopsis, the help's examples and exit codes, and a
section for each command. It is made from the same objects that parse the words, so that it has
every option.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from typer.core import TyperGroup

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "elanite \\- simulate the Quadrics networks and the clusters built on them"


def page(group: TyperGroup, version: str) -> str:
    """A command group's manual page, in the man(7) language."""
    head = f'.TH ELANITE 1 "" "Elanite {version}" "User Commands"\n.SH NAME\n{NAME}'
    synopsis = ".SH SYNOPSIS\n.B elanite\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]"
    about = f".SH DESCRIPTION\n{_text(group.help or '')}"
    return "\n".join([head, synopsis, about, ".SH COMMANDS", *_commands(group, "elanite")])


def _commands(group: TyperGroup, path: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if command.hidden:
            continue
        words = f"{path} {name}"
        yield f".SS {_plain(words)}\n{_text(command.help or '')}"
        if isinstance(command, TyperGroup):
            yield from _commands(command, words)
            continue
        context = command.make_context(name, [], resilient_parsing=True)
        for parameter in command.get_params(context):
            if record := parameter.get_help_record(context):
                option, meaning = record
                yield f".TP\n.B {_plain(option)}\n{_plain(meaning)}"


def _text(help_: str | None) -> str:
    """A help text's paragraphs; those after a line with a backspace keep their lines."""
    found = []
    for paragraph in re.split(r"\n\s*\n", (help_ or "").strip()):
        kept = paragraph.removeprefix("\b\n")
        lines = _plain(kept).split("\n")
        found.append("\n".join([".PP", *([".nf", *lines, ".fi"] if kept != paragraph else lines)]))
    return "\n".join(found)


def _plain(text: str) -> str:
    """Text without the language's signs: backslashes, hyphens, and points at line starts."""
    found = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", found, flags=re.MULTILINE)
