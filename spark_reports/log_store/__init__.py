"""Delta's log store for S3, of which several processes can write a store at once; see its Java source.

It is compiled where it is needed, with Eclipse's compiler from Maven Central, and kept in the cache.
"""

import hashlib
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.cache_lock import cache_lock
from rocketchaos.harness.jars.java_compiler import compile_java, compiler_jars
from rocketchaos.harness.jars.java_home import Java

CLASS = "rocketchaos.ConditionalPutLogStore"
"""For Spark's setting `spark.delta.logStore.s3a.impl`."""
_SOURCE = Path(__file__).with_name("ConditionalPutLogStore.java")


def log_store_jar(java: Java, classpath: Sequence[Path], progress: Callable[[str], None]) -> Path:
    """The jar with the log store, made if the cache lacks it.

    Args:
        java: which runs the compiler.
        classpath: Hadoop, its S3A, and Delta's storage.
        progress: called with a few words before anything that takes time.

    Raises:
        EnvironmentNotReady: the compiler can't be fetched, or can't compile it.
    """
    parts = [_SOURCE.read_text(encoding="utf-8"), *(item.name for item in classpath)]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
    folder = paths.log_stores_folder()
    jar = folder / f"{_SOURCE.stem}-{digest}.jar"
    if jar.exists():
        return jar
    compiler = compiler_jars(progress)
    with cache_lock(folder, "log-stores", progress):
        if not jar.exists():
            progress(f"compiling {_SOURCE.name}")
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                classes = Path(scratch) / "classes"
                compile_java([_SOURCE], java, compiler, classpath, classes)
                made = Path(scratch) / jar.name
                with zipfile.ZipFile(made, "w") as archive:
                    for file in sorted(classes.rglob("*.class")):
                        archive.write(file, file.relative_to(classes).as_posix())
                made.rename(jar)
    return jar
