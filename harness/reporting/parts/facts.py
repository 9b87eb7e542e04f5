"""Under which conditions a run took place."""

from collections.abc import Mapping
from typing import Any

from rocketchaos.harness.core.text import counted, one_line, seconds_text
from rocketchaos.harness.reporting.base import Report


def facts(run: Report) -> dict[str, str]:
    """Versions, timing, seed and so on, by name; unknown values are left out."""
    record = run.record
    cluster = _mapping(record, "cluster")
    client = " ".join(str(record[name]) for name in ("client", "client_version") if record.get(name))
    found = {
        "RocketMQ": _versions_text(run),
        "client": client,
        "timing": record.get("timing") or run.scenario.timing,
        "seed": record.get("seed"),
        "cluster": _cluster_text(cluster),
        "cluster starts": _starts_text(cluster),
        "took": seconds_text(run.seconds) if record else None,
        "ended": record.get("ended"),
        "owner": record.get("owner") or run.scenario.owner,
        "scenario file": record.get("scenario_file") or run.scenario.file,
    }
    names = {"rocketchaos": "rocketchaos", "python": "Python", "java": "Java"}
    versions = {names.get(name, name): value for name, value in _mapping(record, "versions").items()}
    return {
        name: one_line(value)
        for name, value in {**found, **versions}.items()
        if value is not None and value != ""
    }


def _versions_text(run: Report) -> str | None:
    """The run's version, then those that its steps bring; None: it began with none."""
    first = run.record.get("rocketmq")
    return first and ", then ".join((first, *run.scenario.further_releases))


def _cluster_text(cluster: Mapping[str, Any]) -> str:
    if not cluster.get("kind"):
        return ""
    brokers = [node for node in cluster.get("nodes", ()) if node.get("role") == "broker"]
    return f"{cluster['kind']}, {counted(len(brokers), 'broker')}" + (
        ", shared" if cluster.get("shared") else ""
    )


def host_facts(run: Report) -> dict[str, str]:
    """The machine, and how busy it was."""
    host = _mapping(run.record, "host")
    words = {
        "system": "system",
        "processors": "processors",
        "memory_mib": "memory (MiB)",
        "free_memory_mib": "free memory (MiB)",
        "free_disk_mib": "free disk (MiB)",
        "load": "load of the last 1, 5, 15 minutes",
    }
    return {
        text: ", ".join(map(str, value)) if isinstance(value, list) else one_line(value)
        for name, text in words.items()
        if (value := host.get(name)) is not None
    }


def phases(run: Report) -> dict[str, float]:
    """Seconds by phase of the run."""
    return {str(name): float(value) for name, value in _mapping(run.record, "phases").items()}


def facts_line(run: Report) -> str:
    """The conditions that matter most, on one line."""
    known = facts(run)
    parts = [f"{name} {known[name]}" for name in ("RocketMQ", "client", "seed") if name in known]
    parts.insert(min(2, len(parts)), f"{known['timing']} timing")
    parts += [known[name] for name in ("cluster",) if name in known]
    return " · ".join(parts)


def _starts_text(cluster: Mapping[str, Any]) -> str | None:
    """How often starting it was tried, where it took more than one attempt."""
    tries = int(cluster.get("start_attempts") or 1)
    return None if cluster.get("shared") or tries == 1 else f"{tries} attempts: ports were taken meanwhile"


def _mapping(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = record.get(name)
    return value if isinstance(value, Mapping) else {}
