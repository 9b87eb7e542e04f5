"""What every container, network and volume of ours carries, so that only those are ever removed."""

from rocketchaos.harness.reaper.reaper_process import OWNER_LABEL

__all__ = ["OWNER_LABEL", "ROLE_LABEL", "RUN_LABEL", "labels_of"]

RUN_LABEL = "rocketchaos.run"
"""The token of the run to which it belongs; a cluster that several runs share has its folder's name."""
ROLE_LABEL = "rocketchaos.role"
"""`nameserver`, `broker`, `proxy`, `dashboard`, `worker`, `program`, `sidecar`, `toxiproxy` or `network`."""


def labels_of(owner: str, role: str, run: str) -> dict[str, str]:
    """The labels of something that this owner starts."""
    return {OWNER_LABEL: owner, ROLE_LABEL: role, RUN_LABEL: run}
