"""Damage of a Delta log that Delta does not notice: it would read an older version, or one with a gap."""

import re
from pathlib import Path

_COMMIT, _CHECKSUM = re.compile(r"(\d{20})\.json"), re.compile(r"(\d{20})\.crc")


def unnoticed_damage(table: Path) -> str | None:
    """The damage to the log of a table on a local disk. None: names and sizes show no damage.

    After each commit Delta writes a checksum of the version, and it moves commits into place whole: so one that is
    empty was cut, as when a machine loses power, and a checksum without its commit has lost it.
    """
    log = table / "_delta_log"
    try:
        files = {item.name: item.stat().st_size for item in log.iterdir()}
    except OSError:
        return None  # being tidied, or not to be read: Delta says which
    commits = {name for name in files if _COMMIT.fullmatch(name)}
    for name in sorted(commits):
        if not files[name]:
            return f"{log / name} is empty"
    newest = max((name for name in files if _CHECKSUM.fullmatch(name)), default=None)
    if newest is None or not commits:
        return None
    commit = newest.replace(".crc", ".json")
    # Looked for once more: another process may have written it while the folder was listed.
    if commit <= max(commits) or (log / commit).exists():
        return None
    return f"{log} has lost its newest commit, and has {newest} still"
