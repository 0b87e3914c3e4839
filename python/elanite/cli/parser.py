"""How words become values, and how wrong ones are refused.

``typer`` parses the words; its messages name Python types, and its help states every argument's
type. Here the messages are in the user's words, and an unknown command gets the similar commands,
or all commands.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from typer.core import TyperArgument, TyperCommand, TyperGroup

from elanite.base.streams import shown

if TYPE_CHECKING:
    from pydantic_core import ValidationError
    from typer._click.core import Command as ClickCommand
    from typer._click.core import Context

REFUSED = {
    "int_parsing": "`{}` is not a whole number",
    "int_from_float": "`{}` is not a whole number",
    "int_parsing_size": "`{}` has too many digits",
    "float_parsing": "`{}` is not a number",
}
"""Messages for each kind of wrong value."""


class _Argument(TyperArgument):
    """An argument with a help text that has its name alone."""

    def display_type_rich(self, ctx: Context) -> str | None:  # noqa: ARG002
        return None


class Command(TyperCommand):
    """A command."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.params = [
            _untyped(each) if isinstance(each, TyperArgument) else each for each in self.params
        ]

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse the words behind the command."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            from pydantic_core import ValidationError  # typer has imported it; help does without

            # The error class belongs to typer's own click copy.
            if isinstance(error.__cause__, ValidationError) and hasattr(error, "message"):
                error.message = refused(error.__cause__)
            raise


class CommandGroup(TyperGroup):
    """A command group."""

    command_class = Command

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, ClickCommand | None, list[str]]:
        """The command that the first word names."""
        from elanite.inputs.sources import did_you_mean

        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            if hasattr(error, "message") and not args[0].startswith("-"):
                names = [name for name in self.list_commands(ctx) if not self.commands[name].hidden]
                hint = did_you_mean(args[0], names) or f"; there are: {', '.join(names)}"
                error.message = shown(f"there is no command `{args[0]}`{hint}")
            raise


def _untyped(argument: TyperArgument) -> TyperArgument:
    found = copy.copy(argument)
    found.__class__ = _Argument
    return found


def refused(error: ValidationError) -> str:
    """Why a value is wrong, in the user's words."""
    first = error.errors()[0]
    text = REFUSED.get(first["type"])
    return text.format(first["input"]) if text else first["msg"].removeprefix("Value error, ")
