"""A client's constructor that loses an interface under its hands; what any other failure means."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from rocketchaos.harness.workers.child import jvm

VANISHED = "java.lang.NullPointerException\n\tat org.apache.rocketmq.common.utils.NetworkUtil.getLocalAddress"


class JavaError(Exception):
    """Stands for jpype's, which needs a JVM."""

    def stacktrace(self) -> str:
        return str(self)


@pytest.mark.parametrize(
    ("failures", "reason", "calls"),
    [(0, VANISHED, 1), (4, VANISHED, 5), (5, VANISHED, 5), (1, "MQClientException", 1)],
)
def test_only_a_vanished_interface_is_looked_for_again(
    monkeypatch: pytest.MonkeyPatch, failures: int, reason: str, calls: int
) -> None:
    made: list[str] = []

    def constructor(group: str) -> str:
        made.append(group)
        if len(made) <= failures:
            raise JavaError(reason)
        return group

    fake = SimpleNamespace(JClass=lambda _name: constructor, JException=JavaError)
    monkeypatch.setattr(jvm, "jpype", fake)
    if failures >= calls:
        with pytest.raises(JavaError):
            jvm.new_client("a.Client", "g")
    else:
        assert jvm.new_client("a.Client", "g") == "g"
    assert len(made) == calls
