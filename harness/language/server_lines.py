"""Lines of broker.conf and namesrv.conf, as scenarios give them."""

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

_PROTECTED = frozenset(
    {
        "bindAddress",
        "brokerClusterName",
        "brokerId",
        "brokerIP1",
        "brokerIP2",
        "brokerName",
        "controllerAddr",
        "enableControllerMode",
        "enableDLegerCommitLog",
        "fetchControllerAddrByDnsLookup",
        "fetchNameSrvAddrByDnsLookup",
        "fetchNamesrvAddrByAddressServer",
        "haListenPort",
        "listenPort",
        "namesrvAddr",
        "rocketmqHome",
    }
)


ROLE, _MASTERS = "brokerRole", ("ASYNC_MASTER", "SYNC_MASTER")
_PROTECTED_PREFIXES = ("storePath", "readOnlyCommitLogStorePaths")


def protected(keys: Iterable[str]) -> list[str]:
    """Those of the settings that the harness itself decides."""
    return sorted(key for key in keys if key in _PROTECTED or key.startswith(_PROTECTED_PREFIXES))


def tls_problem(keys: Iterable[str]) -> str | None:
    """What is wrong with lines about TLS: RocketMQ reads that from system properties alone."""
    if lines := sorted(key for key in keys if key.startswith(("tls.", "tlsMode"))):
        return (
            f"{', '.join(lines)}: servers read that from system properties (TlsSystemConfig). `tls: true` of "
            "`cluster` makes them speak TLS as well as plain text (permissive). There is no enforcing here: "
            "the harness asks them in plain text"
        )
    return None


_PROTECTED_OF_NAME_SERVERS = frozenset(
    {
        "bindAddress",
        "configStorePath",
        "controllerDLegerGroup",
        "controllerDLegerPeers",
        "controllerDLegerSelfId",
        "controllerStorePath",
        "enableControllerInNamesrv",
        "kvConfigPath",
        "listenPort",
        "rocketmqHome",
    }
)


def _way(refused: Iterable[str]) -> str:
    """How to get what a refused line is for, where the language has another word for it."""
    return "; `controller: true` of `cluster` starts one" if "ontroller" in "".join(refused) else ""


def broker_lines_problem(lines: Mapping[str, str | int | bool]) -> str | None:
    """Why a scenario can't give a broker these lines; None if it can."""
    if problem := tls_problem(lines):
        return problem
    if refused := protected(lines):
        return (
            f"{', '.join(refused)}: the harness itself decides on ports, names, folders, DLedger and the "
            f"controller of each run{_way(refused)}"
        )
    if lines.get(ROLE, _MASTERS[0]) not in _MASTERS:
        return (
            f"{ROLE}: a broker of `brokers` is a master, {' or '.join(_MASTERS)}; `slaves` gives it a slave"
        )
    return None


def name_server_lines_problem(lines: Mapping[str, str | int | bool]) -> str | None:
    """Why a scenario can't give name servers these lines; None if it can."""
    if problem := tls_problem(lines):
        return problem
    if refused := sorted(_PROTECTED_OF_NAME_SERVERS & lines.keys()):
        return (
            f"{', '.join(refused)}: the harness itself decides on ports, folders and the "
            f"controller{_way(refused)}"
        )
    return None


ConfigurationKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.]*$")]
"""A key of broker.conf."""


def _in_one_line(value: str | int | bool) -> str | int | bool:
    if isinstance(value, str) and not value.isprintable():
        raise ValueError("a line of broker.conf can't hold a line break or another control character")
    return value


ConfigurationValue = Annotated[str | int | bool, AfterValidator(_in_one_line)]
"""A value of broker.conf."""


def as_rocketmq_reads(settings: Mapping[str, str | int | bool]) -> dict[str, str]:
    """Settings as text: `true`, `16777216`."""
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in settings.items()
    }
