"""What is put into brokers by RocketMQ's own way: an RPCHook that a file in META-INF/service names.

`BrokerController.initialRpcHooks` loads it in all versions (4.9.3, 5.5.0). Its Java source is compiled where it is
needed, with Eclipse's compiler from Maven Central: users have a Java, and seldom a JDK.
"""

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.cache_lock import cache_lock
from rocketchaos.harness.jars.java_compiler import compile_java, compiler_jars
from rocketchaos.harness.jars.java_home import Java

FLOW_CONTROL = Path(__file__).with_name("FlowControl.java")

_SERVICE = "META-INF/service/org.apache.rocketmq.remoting.RPCHook"


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
    compiler = compiler_jars(progress)
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
        compile_java([source], java, compiler, classpath, made)
        service = made / _SERVICE
        service.parent.mkdir(parents=True)
        service.write_text(f"rocketchaos.{source.stem}\n", encoding="utf-8")
        made.rename(folder)
