"""Whether a look has reached a cluster."""

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.diagnose.model import Look


def require_reached(look: Look) -> None:
    """Make sure that somebody answered.

    Raises:
        EnvironmentNotReady: no name server, or no broker, can be reached.
    """
    silent = [item.exchange for item in look.registered.values() if not item.exchange.succeeded]
    if len(silent) == len(look.registered):
        raise EnvironmentNotReady(
            "no name server answers: " + "; ".join(f"{item.address}: {item.why_not}" for item in silent),
            "Correct `--namesrv`. An access key goes into `--access-key-file`; TLS is `--tls`.",
        )
    if not look.brokers:
        raise EnvironmentNotReady(
            "the name server knows no broker",
            "Check whether its brokers run, and that it is the right one. Brokers register every 30 s.",
        )
    asked = [item for broker in look.brokers.values() for item in broker.asked] + list(
        look.offset_tables.values()
    )
    if asked and all(item.answer_code is None for item in asked):
        raise EnvironmentNotReady(
            "no broker answers: " + "; ".join(sorted({f"{item.address}: {item.why_not}" for item in asked})),
            "If they advertise addresses that lead nowhere from here: `--map 10.0.0.5:10911=127.0.0.1:20911`.",
        )
