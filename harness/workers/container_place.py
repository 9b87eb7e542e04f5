"""Where containers of a run join the network of its servers."""

from dataclasses import dataclass, field

from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.launch import Subnet
from rocketchaos.harness.workers.addresses import Addresses


@dataclass(frozen=True, slots=True)
class ContainerPlace:
    """The network of one cluster, as whoever starts a container there has to know it."""

    engine: Engine
    subnet: Subnet
    addresses: Addresses
    """Which are free there."""
    owner: str
    """The label for the clean-up."""
    run: str
    """A part of the containers' names."""
    images: dict[str, str] = field(default_factory=dict)
    """The ids of the users' images that have run there, by name."""
