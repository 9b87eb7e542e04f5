"""Nowhere does the code ask whether a number that may be missing is true: then 0 would count as missing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("assertions", "harness", "spark_reports")
NUMBERS = {"int", "float", "DurationMs"}
NEVER_ZERO = {
    "seen.first_broken_event or number": "lines are counted from 1",
    "seen.first_broken_message or number": "lines are counted from 1",
    "chosen or RUNS_PER_CORE * (cores or usable_cores())": "`--parallel` is 1 or more, and so are cores",
    "cores or usable_cores()": "there is a core",
    "step.count or 1": "`settle` takes a count of 1 or more",
    "level or FIRST_RETRY_LEVEL + reconsume_times": "RocketMQ's level 0 leaves the delay to the broker",
    "'retry' if delivery.reconsume_times else 'queue'": "of an event: 0 is the first delivery",
    "delivery.body.reconsume_times": "of an event: 0 is the first delivery",
    "f', delivery {got.reconsume_times + 1}' if got.reconsume_times else ''": "of an event: 0 is the first",
    "step.every or 5": "`send` takes a time of 1 ms or more",
    "consumer.behaviour.fail and (not api.retries)": "so many deliveries fail, 1 or more",
    "item.of_messages and item.compared.difference.point": "a difference of 0 is not drawn",
    "not item.of_messages and item.compared.difference.point": "a difference of 0 is not listed",
    "f'process {self.pid}' if self.pid else f'container {str(self.container)[:12]}'": "a process is not 0",
    "is_there and connection.status == psutil.CONN_LISTEN and connection.pid": "a process is not 0",
    "self.pid and same_process(self.pid, self._created_s)": "no process of ours has the number 0",
    "longest / measured.limit_ms if measured.limit_ms else math.inf": "more than 0 ms is beyond all measure",
}
"""What asks so all the same, for 0 can't be, or is meant."""


def is_optional_number(annotation: ast.expr) -> bool:
    """Whether it is `int | None` or the like."""
    parts: set[str] = set()

    def read(node: ast.expr) -> None:
        if isinstance(node, ast.BinOp):
            read(node.left)
            read(node.right)
        else:
            parts.add(ast.unparse(node))

    read(annotation)
    return "None" in parts and len(parts) > 1 and parts - {"None"} <= NUMBERS


def numbers_that_may_be_missing(trees: Iterable[ast.Module]) -> set[str]:
    """The fields that are declared so, by their names, but for those that something else is called too."""
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) not in NUMBERS:
            name = node.target.attr if isinstance(node.target, ast.Attribute) else ast.unparse(node.target)
            found[is_optional_number(node.annotation)].add(name)
    return found[True] - found[False]


def parameters_that_may_be_missing(function: ast.FunctionDef) -> set[str]:
    arguments = (*function.args.args, *function.args.kwonlyargs, *function.args.posonlyargs)
    return {
        argument.arg
        for argument in arguments
        if argument.annotation is not None and is_optional_number(argument.annotation)
    }


def asked_whether_true(node: ast.AST) -> Iterator[ast.expr]:
    """What a node asks of whether it is true."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield node.test
    elif isinstance(node, ast.BoolOp):
        # `number or 0` is the same for 0 and for nothing.
        rest = node.values[1:]
        harmless = isinstance(node.op, ast.Or) and all(ast.unparse(item) in ("0", "0.0") for item in rest)
        asked = node.values[:-1] if isinstance(node.op, ast.Or) else node.values
        yield from () if harmless else asked
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.comprehension):
        yield from node.ifs
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "bool":
        yield from node.args


def found_in(tree: ast.AST, fields: set[str], parameters: set[str]) -> Iterator[tuple[int, str]]:
    for node in ast.iter_child_nodes(tree):
        own = parameters
        if isinstance(node, ast.FunctionDef):
            own = parameters_that_may_be_missing(node)
        for asked in asked_whether_true(node):
            number = isinstance(asked, ast.Attribute) and asked.attr in fields
            number |= isinstance(asked, ast.Name) and asked.id in own
            # An `if` is told by what it asks, anything else by the whole of it.
            text = ast.unparse(asked if isinstance(node, ast.If | ast.comprehension) else node)
            if number:
                yield asked.lineno, text
        yield from found_in(node, fields, own)


def test_no_number_that_may_be_missing_is_judged_by_whether_it_is_true() -> None:
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    trees = {file: ast.parse(file.read_text("utf-8")) for file in files}
    fields = numbers_that_may_be_missing(trees.values())
    assert {"at_most", "at_least", "every", "suspend", "limit_ms"} <= fields
    found = {
        text: f"{file.relative_to(ROOT)}:{line}: {text}"
        for file, tree in trees.items()
        for line, text in found_in(tree, fields, set())
    }
    new = [place for text, place in found.items() if text not in NEVER_ZERO]
    assert new == [], "write `is None`, or say in NEVER_ZERO why 0 can't be"
    assert NEVER_ZERO.keys() <= found.keys()


def test_a_limit_of_which_zero_counts_as_missing_is_found() -> None:
    tree = ast.parse("def f(at_most: int | None) -> float:\n    return at_most or math.inf\n")
    assert list(found_in(tree, set(), set())) == [(2, "at_most or math.inf")]
    assert list(found_in(ast.parse("x = self.lag or 7"), {"lag"}, set())) == [(1, "self.lag or 7")]
    assert list(found_in(ast.parse("x = self.lag or 0"), {"lag"}, set())) == []
