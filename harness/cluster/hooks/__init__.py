"""What is put into brokers by RocketMQ's own way: an RPCHook that a file in META-INF/service names.

`BrokerController.initialRpcHooks` loads it in all versions (4.9.3, 5.5.0). Its Java source is compiled where it is
needed, with Eclipse's compiler from Maven Central: users have a Java, and seldom a JDK.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.cache_lock import cache_lock
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.jars.bundles import Bundle, jars
from rocketchaos.harness.jars.java_home import Java

FLOW_CONTROL = Path(__file__).with_name("FlowControl.java")

_COMPILER = Bundle("ecj-3.33.0", "Eclipse's Java compiler", ["org.eclipse.jdt:ecj:3.33.0"])
_MAIN = "org.eclipse.jdt.internal.compiler.batch.Main"
_SERVICE = "META-INF/service/org.apache.rocketmq.remoting.RPCHook"
_LIMIT_S = 120


def hook_classes(
    source: Path, version: str, java: Java, classpath: Sequence[Path], progress: Callable[[str], None]
) -> Path:
    """A folder for a broker's class path, with the compiled hook, and the file that names it; kept in the cache.

    Args:
        source: a Java file whose class is in the package `rocketchaos`, and is called as the file.
        version: of RocketMQ.
        java: which runs the compiler, and the broker.
        classpath: the broker's.
        progress: called with a few words before anything that takes time.

    Raises:
        EnvironmentNotReady: the compiler can't be fetched, or can't compile it.
    """
    text = source.read_bytes()
    digest = hashlib.sha256(text).hexdigest()[:12]
    folder = paths.hooks_folder() / f"{source.stem}-{digest}-{version}-java{java.version}"
    if folder.exists():
        return folder
    compiler = jars(_COMPILER, progress)
    with cache_lock(paths.hooks_folder(), "hooks", progress):
        if not folder.exists():
            progress(f"compiling {source.name}")
            _compile(source, java, compiler, classpath, folder)
    return folder


def _compile(
    source: Path, java: Java, compiler: Sequence[Path], classpath: Sequence[Path], folder: Path
) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / "classes"
        command = [
            *(str(java.executable), "-cp", os.pathsep.join(map(str, compiler)), _MAIN),
            *("-source", "8", "-target", "8", "-nowarn", "-proc:none"),
            *("-cp", os.pathsep.join(map(str, classpath)), "-d", str(made), str(source)),
        ]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EnvironmentNotReady(f"{source.name} can't be compiled: {error}") from error
        if ended.returncode:
            raise EnvironmentNotReady(
                f"{source.name} can't be compiled with Java {java.version}: {ended.stderr.strip()[-500:]}",
                "Choose another Java with JAVA_HOME.",
            )
        service = made / _SERVICE
        service.parent.mkdir(parents=True)
        service.write_text(f"rocketchaos.{source.stem}\n", encoding="utf-8")
        made.rename(folder)
