"""A broker's answers come late."""

import statistics

from rocketchaos.harness.cluster.delay_line import DelayLine
from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.faults.base import Fault
from rocketchaos.harness.faults.sidecar_trials import Trials
from rocketchaos.harness.rocketmq import remoting

_TIMES = 7
_HEALED_LIMIT_S = 15.0
_REQUEST = remoting.frame(remoting.GET_BROKER_CONFIG, 1, {})


class Delay(Fault):
    """Whatever clients get from a broker arrives so much later, for as long as it lasts."""

    name = "delay"

    def __init__(
        self,
        target: str,
        line: DelayLine,
        trials: Trials,
        address: str,
        delay_ms: int,
        jitter_ms: int,
        *,
        request: bytes = _REQUEST,
    ) -> None:
        """
        Args:
            target: the broker.
            line: what delays its answers.
            trials: from where its answers are timed.
            address: `host:port` at which clients ask it.
            delay_ms: how much later, in milliseconds.
            jitter_ms: how much more or less than that, evenly, in milliseconds.
            request: what it answers.
        """
        self.target = target
        self.sides = (target,)
        self._line, self._trials = line, trials
        host, _, port = address.rpartition(":")
        self._host, self._port = host, int(port)
        self._delay_ms, self._jitter_ms = delay_ms, jitter_ms
        self._request = request
        self._before_ms = 0.0

    def inject(self) -> None:
        self._before_ms = self._median_ms()
        self._line.set(self._delay_ms, self._jitter_ms)

    def wait_effective(self) -> str:
        """Every answer comes later by at least the delay."""
        took = self._times_ms()
        if min(took) < self._delay_ms - self._jitter_ms:
            raise PreconditionNotMet(
                f"delay of {self.target}: an answer came after {min(took):.1f} ms in spite of it"
            )
        return (
            f"{self.target} answers after {statistics.median(took):.0f} ms instead of {self._before_ms:.1f} ms "
            f"(median of {_TIMES}), by {self._line.mechanism}"
        )

    def heal(self) -> None:
        self._line.clear()

    def wait_healed(self) -> str:
        """The median answer comes before the shortest delay would have let it."""
        limit_ms = self._before_ms + max(1, self._delay_ms - self._jitter_ms) / 2
        took = look_until(self._median_ms, lambda took: took <= limit_ms, _HEALED_LIMIT_S, 0.1)
        if took > limit_ms:
            raise PreconditionNotMet(
                f"delay of {self.target}: {_HEALED_LIMIT_S:.0f} s after it was taken away answers still take "
                f"{took:.1f} ms"
            )
        return f"{self.target} answers after {took:.1f} ms"

    def _times_ms(self) -> list[float]:
        return self._trials.echo_ms(self._host, self._port, self._request, _TIMES)

    def _median_ms(self) -> float:
        return statistics.median(self._times_ms())
