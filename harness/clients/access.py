"""What a worker of the Java client needs to sign its requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.rocketmq.access_key import SECRET


def access_of(account: str, version: str, progress: Callable[[str], None]) -> dict[str, Any]:
    """The keys of an account, and the jars of a client of this version that has AclClientRPCHook.

    The tools have it in every version, the client only from 5.3 on. Raises as `classpath`.
    """
    jars = [str(jar) for jar in classpath(version, "tools", progress)]
    return {"access_key": account, "secret_key": SECRET, "jars": jars}
