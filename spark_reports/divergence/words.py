"""The phrases of the report."""

from rocketchaos.harness.core.message_classes import CLASS_WORDS
from rocketchaos.harness.core.model import MessageClass
from rocketchaos.spark_reports.divergence.cells import BROKER
from rocketchaos.spark_reports.divergence.compare import Compared, Judged
from rocketchaos.spark_reports.number_text import chance
from rocketchaos.spark_reports.statistics.interval import Interval


def what(compared: Compared) -> str:
    """`filtered by the client`, `reproduced`."""
    return CLASS_WORDS[MessageClass(compared.what)].text if compared.delta else compared.what


def number(value: float) -> str:
    """With one digit where there are any: `4`, `3.9`; `nearly 4` isn't 4."""
    return (
        f"{value:.0f}" if value == round(value) else f"{value:.1f}" if abs(value) >= 0.1 else f"{value:.2g}"
    )


def bracket(interval: Interval, digits: int = 1) -> str:
    """`4.0 [3.1, 4.6]`."""
    point, low, high = (f"{value + 0.0:.{digits}f}" for value in interval)
    return f"{point} [{low}, {high}]"


def sides(compared: Compared) -> str:
    """`4 of 8 messages a run are filtered by the client with java, none with python`."""
    names = [_named(compared, value) for value in compared.pair.values]
    if not compared.delta:
        item, other = compared.sides
        return f"P({compared.what}) is {item:.2f} {names[0]}, {other:.2f} {names[1]}"
    first, second = (_side(compared, share) for share in compared.sides)
    unit = f" of {compared.messages} messages a run" if compared.messages else " of a run's messages"
    return f"{first}{unit} are {what(compared)} {names[0]}, {second} {names[1]}"


def _side(compared: Compared, share: float) -> str:
    if share == 0:
        return "none"
    return number(share * compared.messages) if compared.messages else f"{share:.0%}"


def _named(compared: Compared, value: str) -> str:
    return f"{'on' if compared.pair.dimension in ('rocketmq', BROKER, 'cluster') else 'with'} {value}"


def evidence(judged: Judged) -> str:
    """`difference 4.0 [2.9, 4.5], delta 1.00 [0.82, 1.00], p<0.001, 20 and 20 runs`."""
    compared = judged.compared
    if compared.messages:
        text = f"difference {bracket(compared.difference.times(compared.messages))} messages a run"
    else:
        text = f"difference {bracket(compared.difference, 2)}"
    if compared.delta:
        text += f", delta {bracket(compared.delta, 2)}"
    return f"{text}, {chance(judged.p_corrected)}, {runs(compared)}"


def runs(compared: Compared) -> str:
    """`20 and 20 runs`."""
    item, other = compared.runs
    return f"{item:,} and {other:,} runs"


def also(compared: Compared) -> str:
    """`delivered 4 against 8`, `P(reproduced) 1 against 0`."""
    first, second = (share * (compared.messages or 1) for share in compared.sides)
    name = what(compared) if compared.delta else f"P({compared.what})"
    return f"{name} {first:.3g} against {second:.3g}"
