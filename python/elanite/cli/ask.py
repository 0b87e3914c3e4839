"""The command ``ask``: questions, and the commands that answer them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar

import typer

from elanite.cli.common import Role, TableFormat, data
from elanite.cli.request import Request


@dataclass(frozen=True, kw_only=True)
class Ask(Request):
    """List questions with the commands that answer them.

    \b
    Examples:
      elanite ask
      elanite ask oversubscription
      elanite ask --format json

    A question's commands run one after the other, from an empty folder. Words select the questions
    that have all of them, in the text or the commands.
    """

    verb: ClassVar[str] = "ask"

    words_: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]...", help="Words of a question.")
    ] = None
    format_: Annotated[
        TableFormat, typer.Option("--format", "-f", help="How to print them."), Role.OUTPUT
    ] = TableFormat.TABLE

    def execute(self) -> None:
        """Print the questions."""
        from elanite.cli import questions
        from elanite.errors import UsageError

        chosen = questions.found(tuple(self.words_ or ()))
        if not chosen:
            raise UsageError(
                f"no question has {' and '.join(self.words_ or [])}; `elanite ask` lists all of"
                " them"
            )
        if self.format_ is TableFormat.JSON:
            data(json.dumps([asdict(each) for each in chosen], indent=1))
            return
        for place, each in enumerate(chosen):
            needs = f"  ({', '.join(each.files)}: yours)" if each.files else ""
            data(f"{chr(10) if place else ''}{each.text}{needs}")
            for command in each.commands:
                data(f"  {command}")
