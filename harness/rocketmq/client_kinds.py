"""The kinds of clients; a new one is registered here.

All that differs between clients is stated in `harness.rocketmq.kinds`, and nowhere else.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.rocketmq.client_traits import Api as Api
from rocketchaos.harness.rocketmq.client_traits import ApiName as ApiName
from rocketchaos.harness.rocketmq.client_traits import ClientKind as ClientKind
from rocketchaos.harness.rocketmq.kinds.app import APP
from rocketchaos.harness.rocketmq.kinds.command import COMMAND
from rocketchaos.harness.rocketmq.kinds.go import GO
from rocketchaos.harness.rocketmq.kinds.grpc import GRPC
from rocketchaos.harness.rocketmq.kinds.grpc_java import GRPC_JAVA
from rocketchaos.harness.rocketmq.kinds.image import IMAGE
from rocketchaos.harness.rocketmq.kinds.java import JAVA
from rocketchaos.harness.rocketmq.kinds.python import PYTHON
from rocketchaos.harness.rocketmq.own_workers import VARIABLE, own_workers
from rocketchaos.harness.rocketmq.version_range import contains

USUAL_CLIENT = JAVA.name
"""The kind of those for which neither scenario nor matrix names one."""

_SOME_OF_5 = ("5.0.0", "5.1.4", "5.3.3", "5.5.0")
_SHIPPED = (JAVA, PYTHON, GRPC, GRPC_JAVA, GO, APP, COMMAND, IMAGE)


def _registered() -> Mapping[str, ClientKind]:
    kinds = {kind.name: kind for kind in _SHIPPED}
    for own in own_workers():
        if own.kind.name in (*kinds, "admin"):
            raise UsageProblem(
                f"{VARIABLE}: `{own.kind.name}` is a client of ours: {own.folder}", "Rename it."
            )
        kinds[own.kind.name] = own.kind
    return kinds


CLIENT_KINDS: Mapping[str, ClientKind] = _registered()
"""By name: ours, and those of the user."""

_CHOICE = re.compile(r"([a-z]+(?:-[a-z]+)*)(?:@(\d+\.\d+\.\d+(?:[\w.-]*\+[0-9a-f]{8})?))?")
_SAME = {"cpp": PYTHON.name, "c++": PYTHON.name, "golang": GO.name}
"""Names that people know for our kinds."""
_PROGRAMS = ("spring", "spring-boot", "springboot", "spring-cloud")
_A_PROGRAM = "; a program of your own is `app: {jar: …}`"


@dataclass(frozen=True, slots=True)
class ClientChoice:
    """A kind of client, in some version: `java`, `java@4.9.4`, `python`, `grpc`, `go`, `go@2.1.1`."""

    kind: ClientKind
    version: str | None = None
    """The one that was asked for; None: the kind's own, or the brokers'."""

    def __str__(self) -> str:
        return self.kind.name if self.version is None else f"{self.kind.name}@{self.version}"

    @property
    def title(self) -> str:
        """Which software it is, with a version that was asked for."""
        return self.kind.title if self.version is None else f"{self.kind.title} {self.version}"

    def refuses_properties(self, brokers: str) -> frozenset[str]:
        """Names of properties that its producer refuses in a message; a client without a version has the brokers',
        which are in this range."""
        if self.version is not None:
            old = self.version.startswith("4.")
        else:
            old = not any(contains(brokers, version) for version in _SOME_OF_5)
        return self.kind.refuses_properties | (frozenset() if old else self.kind.refuses_properties_of_5)

    def version_on(self, rocketmq: str) -> str:
        """The client's version where the brokers' is `rocketmq`."""
        return self.version or self.kind.version or rocketmq


def client_choice(text: str) -> ClientChoice:
    """The client that the text names.

    Raises:
        ValueError: there is no such kind, or it isn't there in this version.
    """
    found = _CHOICE.fullmatch(text)
    kind = CLIENT_KINDS.get(found[1]) if found else None
    if found is None or kind is None:
        asked = text.partition("@")[0].lower()
        near = [_SAME[asked]] if asked in _SAME else get_close_matches(asked, CLIENT_KINDS, 1)
        meant = f"; did you mean `{near[0]}`?" if near else ""
        meant = _A_PROGRAM if asked in _PROGRAMS else meant
        known = ", ".join(name for name, kind in CLIENT_KINDS.items() if kind.program is None)
        raise ValueError(f"`{text[:40]}` is no client: write one of {known}, or `java@4.9.4`{meant}")
    if kind.version is not None and found[2] not in (None, kind.version, *kind.older):
        names = " or ".join(
            f"`{name}`" for name in (kind.name, *(f"{kind.name}@{item}" for item in kind.older))
        )
        raise ValueError(f"{kind.name} is {kind.title}, version {kind.version}: write {names}")
    return ClientChoice(kind, found[2])
