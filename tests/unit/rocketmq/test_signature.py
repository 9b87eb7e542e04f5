"""Signatures as RocketMQ's own AclUtils makes them."""

from __future__ import annotations

from rocketchaos.harness.rocketmq.signature import Secrets


def test_signs_the_values_by_sorted_keys() -> None:
    # As AclUtils.calSignature: HmacSHA1 of "rocketmq2" + "g" under the secret key.
    signed = Secrets("rocketmq2", "12345678").signed({"consumerGroup": "g"})
    assert signed["Signature"] == "d8FZyilOTMXWl0zPAvU2joSQziA="
    assert "12345678" not in repr(Secrets("rocketmq2", "12345678"))
