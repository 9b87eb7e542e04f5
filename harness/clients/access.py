"""What a worker needs so that its clients sign their requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.rocketmq.access_key import SECRET


def keys_of(account: str) -> dict[str, str]:
    """The keys of an account."""
    return {"access_key": account, "secret_key": SECRET}


def access_of(account: str, version: str, progress: Callable[[str], None]) -> dict[str, Any]:
    """The keys of an account, and the jars of RocketMQ's tools of this version, which have AclClientRPCHook.

    The Java client itself has it only from 5.3 on. Raises as `classpath`.
    """
    jars = [str(jar) for jar in classpath(version, "tools", progress)]
    return {**keys_of(account), "jars": jars}
