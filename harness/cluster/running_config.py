"""Reads (GET_BROKER_CONFIG, 26) and changes (UPDATE_BROKER_CONFIG, 25) the settings of a running broker."""

from collections.abc import Mapping

from rocketchaos.harness.cluster import readiness, server_settings
from rocketchaos.harness.core.errors import PreconditionNotMet, UsageProblem
from rocketchaos.harness.rocketmq import remoting


def change(word: str, broker: str, address: str, wanted: Mapping[str, str]) -> dict[str, str]:
    """Give a broker these settings, make sure that it has them, and return those that they replace.

    Args:
        word: the step that wants it, for messages.

    Raises:
        UsageProblem: a name that the broker doesn't know: it would take, show and ignore it.
        PreconditionNotMet: the broker doesn't answer, refuses, or did not take them.
    """
    before = _settings(word, broker, address)
    unknown = {key: value for key, value in wanted.items() if key not in before}
    complaints = readiness.complaints(unknown, before)
    if complaints:
        raise UsageProblem(f"{word}: {'; '.join(complaints)}", "Correct them.")
    text = server_settings.properties_text(wanted)
    answer = _ask(word, broker, address, remoting.UPDATE_BROKER_CONFIG, text.encode("ascii"))
    if answer.code != remoting.SUCCESS:
        raise PreconditionNotMet(f"{word}: {broker} refuses: code {answer.code}, {answer.remark}")
    complaints = readiness.complaints(wanted, _settings(word, broker, address))
    if complaints:
        raise PreconditionNotMet(f"{word}: {broker} did not take {'; '.join(complaints)}")
    return {key: before[key] for key in wanted}


def _settings(word: str, broker: str, address: str) -> dict[str, str]:
    """All settings that a broker has now."""
    text = _ask(word, broker, address, remoting.GET_BROKER_CONFIG, b"").body.decode("utf-8", errors="replace")
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def _ask(word: str, broker: str, address: str, code: int, body: bytes) -> remoting.Answer:
    try:
        return remoting.ask(address, code, body=body)
    except OSError as error:
        raise PreconditionNotMet(f"{word}: {broker} doesn't answer: {error}", about=(broker,)) from error
