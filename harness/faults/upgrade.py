"""A broker comes again with another version of RocketMQ."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.base import Upgradable
from rocketchaos.harness.core.errors import HarnessDefect, PreconditionNotMet
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.faults.process import NodeFault, OverOnceEffective
from rocketchaos.harness.rocketmq import remoting, versions

if TYPE_CHECKING:
    from rocketchaos.harness.faults.context import FaultContext

_LIMIT_S = 15.0
_LOOK_EVERY_S = 0.1


class Upgrade(NodeFault, OverOnceEffective):
    """The broker starts from the jars of another version, with its store and address; over once it is ready."""

    name = "upgrade"

    def __init__(self, context: FaultContext, broker: str, version: str) -> None:
        super().__init__(context, broker)
        if not isinstance(context.servers.cluster, Upgradable):
            raise HarnessDefect(f"a cluster of kind {context.servers.cluster.kind} can't be upgraded")
        self._cluster, self._version = context.servers.cluster, version

    def inject(self) -> None:
        self._context.servers.note_down(self.target, "restarting")
        self._cluster.upgrade_node(self.target, self._version)
        self._context.servers.note_up(self.target)

    def wait_effective(self) -> str:
        """The broker itself shows its version (GET_BROKER_RUNTIME_INFO, 28)."""
        node = self._context.servers.node(self.target)

        def ask() -> remoting.Answer:
            return remoting.ask(node.address, remoting.GET_BROKER_RUNTIME_INFO)

        # In the first second after its start it has no figures yet, and answers NoSuchElementException.
        answer = look_until(ask, lambda answer: answer.code == remoting.SUCCESS, _LIMIT_S, _LOOK_EVERY_S)
        if answer.code != remoting.SUCCESS:
            raise PreconditionNotMet(
                f"upgrade: {self.target} doesn't show its version within {_LIMIT_S:.0f} s; last seen: "
                f"code {answer.code}, {answer.remark}"
            )
        shown = json.loads(answer.body)["table"]["brokerVersionDesc"]
        # A build may show the version of the release before it.
        as_shown = "V" + "_".join(map(str, versions.numbers(self._version)))
        if shown != as_shown and not versions.is_build(self._version):
            raise PreconditionNotMet(f"upgrade: {self.target} shows the version {shown}, not {self._version}")
        self._context.servers.record(node)
        return f"{self.target} is ready as {node.process}, and shows the version {shown}"
