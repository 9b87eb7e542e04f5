"""The RPCHook by which RocketMQ's Java client signs its requests.

Rests on AclClientRPCHook and SessionCredentials of org.apache.rocketmq.acl.common, 4.9.3 to 5.5.0.
"""

from collections.abc import Mapping
from typing import Any

import jpype

_PACKAGE = "org.apache.rocketmq.acl.common"


def hook_of(access: Mapping[str, Any]) -> Any:
    """The hook of `{access_key, secret_key, jars}`; up to 5.2 the client itself lacks it, and the jars have it."""
    for jar in access["jars"]:
        jpype.addClassPath(jar)
    credentials = jpype.JClass(f"{_PACKAGE}.SessionCredentials")(access["access_key"], access["secret_key"])
    return jpype.JClass(f"{_PACKAGE}.AclClientRPCHook")(credentials)
