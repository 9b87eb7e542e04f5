"""`--matrix clients=java,python rocketmq=4.9.4,5.5.0`: options that take all the words that belong to them."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rocketchaos.harness.cli.single_options import SingleOptionsCommand
from rocketchaos.harness.plan.matrix import EXAMPLE, Matrix, is_word, parse_matrix, refuse_two_versions

OPTION = "--matrix"
BUILDS_OPTION = "--builds"
MatrixOption = Annotated[
    list[str] | None,
    typer.Option(
        OPTION,
        metavar="DIMENSION=A,B [DIMENSION=A,B]",
        help=f"Every client on every version, without impossible combinations: `{EXAMPLE}`. Clients: java, "
        "java@4.9.4, python, grpc, grpc-java, go.",
    ),
]


class WordsCommand(SingleOptionsCommand):
    """A command whose option `--matrix`, or `--builds`, takes every word that follows it and belongs to it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As any command does, once each word has its option."""
        return super().parse_args(ctx, one_option_a_word(args))


def one_option_a_word(arguments: list[str]) -> list[str]:
    """`--matrix a=1 b=2 path` as `--matrix a=1 --matrix b=2 path`; after `--` all is left as it is."""
    found: list[str] = []
    within = ""
    for index, argument in enumerate(arguments):
        option = argument.partition("=")[0]
        if argument == "--":
            return [*found, *arguments[index:]]
        if within and found[-1] != within and _BELONGS[within](argument):
            found.append(within)
        elif option in _BELONGS:
            within = option
        elif not (within and found[-1] == within):
            within = ""
        found.append(argument)
    return found


def _may_be_a_build(text: str) -> bool:
    """Whether a word names a folder, there or not, rather than a scenario or an option."""
    folder = os.sep in text and not text.endswith((".yaml", ".yml"))
    return not text.startswith("-") and (folder or Path(text).is_dir())


_BELONGS: Mapping[str, Callable[[str], bool]] = {OPTION: is_word, BUILDS_OPTION: _may_be_a_build}
"""Which words belong to an option."""


def matrix_of(words: list[str] | None, rocketmq: str | None = None) -> Matrix | None:
    """The matrix that the words ask for, with a version of `--rocketmq`; None without the option.

    Raises:
        UsageProblem: the words are no valid matrix.
    """
    matrix = parse_matrix(words) if words else None
    if matrix is not None:
        refuse_two_versions(matrix, rocketmq)
    return matrix
