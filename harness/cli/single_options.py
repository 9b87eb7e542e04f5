"""Options and arguments that take one value: more are refused, with what to do instead.

Typer would drop the first of two options silently.
"""

from collections import Counter
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

_TAKES_SEVERAL = {"reproduce": "`rocketchaos run` takes several scenarios."}
"""By command: which other one takes several arguments."""


class SingleOptionsCommand(TyperCommand):
    """A command that takes each option once, except those that can be repeated."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As any command does.

        Raises:
            typer.BadParameter: an option that takes one value is there twice, or there are too many arguments.
        """
        _, extra, order = self.make_parser(ctx).parse_args(args=list(args))
        for option, count in Counter(order).items():
            if count > 1 and isinstance(option, TyperOption) and not (option.multiple or option.is_flag):
                message = f"it takes one value, but {count} are given. Keep one."
                raise typer.BadParameter(message, ctx=ctx, param=option)
        if extra and not ctx.resilient_parsing:
            places = [item for item in self.params if isinstance(item, TyperArgument)]
            count = len(places)
            takes = f"it takes {count or 'no'} argument{'' if count == 1 else 's'}, not {count + len(extra)}"
            advice = _TAKES_SEVERAL.get(self.name or "", f"Leave out {' '.join(extra)[:80]}.")
            raise typer.BadParameter(f"{takes}. {advice}", ctx=ctx, param=places[-1] if places else None)
        return super().parse_args(ctx, args)
