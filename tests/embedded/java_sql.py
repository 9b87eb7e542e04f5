"""Run by itself: RocketMQ's own SQL92, asked by JSON on standard input, in a JVM of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

import jpype


def matches(expression: str, properties: Mapping[str, str]) -> bool | None:
    """As ExpressionMessageFilter.isMatchedByCommitLog says; None: RocketMQ can't compile it."""
    try:
        compiled = jpype.JClass("org.apache.rocketmq.filter.parser.SelectorParser").parse(expression)
    except jpype.JException:
        return None
    given = jpype.JClass("java.util.HashMap")()
    for name, value in properties.items():
        given.put(jpype.JString(name), jpype.JString(value))
    context = jpype.JClass("org.apache.rocketmq.broker.filter.MessageEvaluationContext")(given)
    try:
        answer = compiled.evaluate(context)
    except jpype.JException:
        return False
    return isinstance(answer, jpype.JClass("java.lang.Boolean")) and bool(answer)


def main() -> None:
    """Answer all cases."""
    libjvm, *jars = sys.argv[1:]
    jpype.startJVM(
        "-Xmx64m", f"-Duser.home={jars.pop(0)}", jvmpath=libjvm, classpath=jars, convertStrings=False
    )
    json.dump([matches(*case) for case in json.load(sys.stdin)], sys.stdout)
    jpype.shutdownJVM()


if __name__ == "__main__":
    main()
