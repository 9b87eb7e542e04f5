"""How answers of a broker can be delayed on an engine: by its kernel, else by Toxiproxy, else not at all."""

from typing import Literal

from rocketchaos.harness.containers import netem
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.images import Images
from rocketchaos.harness.core.errors import EnvironmentNotReady

Mechanism = Literal["netem", "toxiproxy"]


def choose_mechanism(engine: Engine, images: Images, owner: str, run: str) -> Mechanism:
    """What lets clients wait; ask before anything is started, because Toxiproxy needs a place of its own.

    Raises:
        EnvironmentNotReady: there is neither; the message says what each lacks.
    """
    lacks = netem.why_not(engine, lambda: images.worker().name, owner, run)
    if not lacks:
        return "netem"
    try:
        images.toxiproxy()
    except EnvironmentNotReady as error:
        raise EnvironmentNotReady(
            f"nothing here can delay what a broker sends: the kernel has no netem ({lacks}); {error.message}",
            "Load the kernel's module (`sudo modprobe sch_netem`), or build Toxiproxy's image with `make images`.",
        ) from error
    return "toxiproxy"
