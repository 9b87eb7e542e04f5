"""What `mqadmin consumerStatus` and `consumerProgress` say of a group, beside a diagnosis."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.jars.java_home import find_java

_LIMIT_S = 60
_SAYS = (
    re.compile(r"WARN: Different subscription in the same group of consumer"),
    re.compile(r"Same subscription in the same group of consumer"),
    re.compile(r"Rebalance OK"),
    re.compile(r"Rebalance [A-Z][A-Z]+\b"),
    re.compile(r"WARN: [^\n]{1,80}"),
    re.compile(r"(?:Consume )?Diff Total: -?\d+"),
    re.compile(r"CODE: \d+ +DESC: [\w ]+"),
    re.compile(r"not online"),
)
"""The parts of an answer that are shown; all else are names and numbers of each queue."""


def said(version: str, name_server: str, group: str) -> str:
    """What both commands say, in their own words; `nothing` where they print none of those."""
    status = _run(version, "consumerStatus", "-n", name_server, "-g", group)
    progress = _run(version, "consumerProgress", "-n", name_server, "-g", group)
    return f"consumerStatus: {words(status)}; consumerProgress: {words(progress)}"


def words(output: str) -> str:
    """The parts of an output that are shown."""
    found = [match[0] for pattern in _SAYS if (match := pattern.search(output))]
    return ", ".join(dict.fromkeys(found)) or "nothing"


def _run(version: str, *arguments: str) -> str:
    with tempfile.TemporaryDirectory(prefix="rocketchaos-mqadmin-") as home:
        # 4.9.x refuses to start without it.
        logging = Path(home, "conf", "logback_tools.xml")
        logging.parent.mkdir()
        logging.write_text("<configuration/>", encoding="utf-8")
        command = [
            str(find_java().executable),
            "-Xmx128m",
            f"-Drocketmq.home.dir={home}",
            f"-Duser.home={home}",
            "-cp",
            os.pathsep.join(map(str, classpath(version, "tools"))),
            "org.apache.rocketmq.tools.command.MQAdminStartup",
            *arguments,
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_LIMIT_S, check=False, cwd=home
            )
        except subprocess.TimeoutExpired:
            return f"WARN: no answer within {_LIMIT_S} s"
    return done.stdout + done.stderr
