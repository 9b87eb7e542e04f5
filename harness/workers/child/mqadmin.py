"""`mqadmin` as its users run it: a JVM of its own, with the tools of the worker's class path."""

import json
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jpype

from rocketchaos.harness.workers.child import jvm
from rocketchaos.harness.workers.protocol import CommandFailed

_MAIN = "org.apache.rocketmq.tools.command.MQAdminStartup"
_OF_THE_WORKER = ("-XX:SharedArchiveFile", "-XX:ArchiveClassesAtExit")
"""Options with a class archive of the worker's own."""
_LOGS = "conf/logback_tools.xml"
"""Without this file under ROCKETMQ_HOME the tools of 4.9.x fail before they do anything."""
_KEYS = "conf/tools.yml"
"""The keys with which they sign (AclUtils.getAclRPCHook, MixAll.ACL_CONF_TOOLS_FILE)."""


def run(
    given: jvm.Arguments,
    nameserver: str,
    arguments: Sequence[str],
    limit_s: float,
    access: Mapping[str, str] | None,
) -> Mapping[str, Any]:
    """Run one command to its end, and read both outputs as one text.

    Args:
        given: of the worker: its jars and JVM options.
        nameserver: what `-n` gets.
        arguments: the command and its own arguments.
        limit_s: one that takes longer is killed.
        access: the keys with which it signs its requests: `{access_key, secret_key}`; None: it signs nothing.

    Returns:
        `{exit_code, output, seconds}`; the exit code of a killed one is None.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mqadmin-") as home:
        logs = Path(home, _LOGS)
        logs.parent.mkdir()
        logs.write_text("<configuration/>\n")
        if access is not None:
            keys = {"accessKey": access["access_key"], "secretKey": access["secret_key"]}
            Path(home, _KEYS).write_text(json.dumps(keys))
        options = [text for text in given.jvm_options if not text.startswith(_OF_THE_WORKER)]
        command = [
            *(str(_java()), *options, f"-Drocketmq.home.dir={home}", f"-Duser.home={home}"),
            *("-cp", ":".join(given.classpath), _MAIN, *arguments, "-n", nameserver),
        ]
        try:
            ended = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=limit_s,
                check=False,
            )
            exit_code, printed = ended.returncode, ended.stdout
        except subprocess.TimeoutExpired as late:
            exit_code, printed = None, late.stdout or b""
        except OSError as error:
            raise CommandFailed(f"mqadmin can't be started: {error}") from error
    return {
        "exit_code": exit_code,
        "output": printed.decode(errors="replace"),
        "seconds": round(time.monotonic() - began, 3),
    }


def _java() -> Path:
    """The program of the JVM that runs here."""
    return Path(str(jpype.JClass("java.lang.System").getProperty("java.home")), "bin", "java")
