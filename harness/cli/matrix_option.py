"""`--matrix clients=java,python rocketmq=4.9.4,5.5.0`: one option that takes all the words that belong to it."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from rocketchaos.harness.plan.matrix import EXAMPLE, Matrix, is_word, parse_matrix, refuse_two_versions

OPTION = "--matrix"
MatrixOption = Annotated[
    list[str] | None,
    typer.Option(
        OPTION,
        metavar="DIMENSION=A,B [DIMENSION=A,B]",
        help=f"Every client on every version, without what is impossible: `{EXAMPLE}`. Clients: java, "
        "java@4.9.4, python, grpc, go.",
    ),
]


class MatrixCommand(TyperCommand):
    """A command whose option `--matrix` takes every word `DIMENSION=A,B` that follows it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As any command does, once each word has its option."""
        return super().parse_args(ctx, one_option_a_word(args))


def one_option_a_word(arguments: list[str]) -> list[str]:
    """`--matrix a=1 b=2 path` as `--matrix a=1 --matrix b=2 path`; after `--` all is left as it is."""
    found: list[str] = []
    within = False
    for index, argument in enumerate(arguments):
        if argument == "--":
            return [*found, *arguments[index:]]
        if within and is_word(argument) and found[-1] != OPTION:
            found.append(OPTION)
        elif argument == OPTION or argument.startswith(f"{OPTION}="):
            within = True
        elif not (within and found[-1] == OPTION):
            within = False
        found.append(argument)
    return found


def matrix_of(words: list[str] | None, rocketmq: str | None = None) -> Matrix | None:
    """The matrix that the words ask for beside a version of `--rocketmq`; None where the option isn't there.

    Raises:
        UsageProblem: they can't be meant so.
    """
    matrix = parse_matrix(words) if words else None
    if matrix is not None:
        refuse_two_versions(matrix, rocketmq)
    return matrix
