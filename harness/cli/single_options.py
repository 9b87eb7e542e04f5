"""Options that take one value: given twice, they are refused, where Typer would drop the first silently."""

from collections import Counter
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption


class SingleOptionsCommand(TyperCommand):
    """A command that takes each option once, except those that can be repeated."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As any command does.

        Raises:
            typer.BadParameter: an option that takes one value is there twice.
        """
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for option, count in Counter(order).items():
            if count > 1 and isinstance(option, TyperOption) and not (option.multiple or option.is_flag):
                message = f"it takes one value, but {count} are given. Keep one."
                raise typer.BadParameter(message, ctx=ctx, param=option)
        return super().parse_args(ctx, args)
