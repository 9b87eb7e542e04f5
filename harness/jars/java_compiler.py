"""Compiles Java sources of ours where they are needed, with Eclipse's compiler from Maven Central.

Users have a Java, and seldom a JDK.
"""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.jars.bundles import Bundle, jars
from rocketchaos.harness.jars.java_home import Java

_COMPILER = Bundle("ecj-3.33.0", "Eclipse's Java compiler", ["org.eclipse.jdt:ecj:3.33.0"])
_MAIN = "org.eclipse.jdt.internal.compiler.batch.Main"
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""A third less processor time for a few sources: nothing is compiled twice, and there are fewer threads."""
_LIMIT_S = 120


def compiler_jars(progress: Callable[[str], None]) -> Sequence[Path]:
    """The compiler's jars, fetched where the cache lacks them.

    Raises:
        EnvironmentNotReady: they aren't available.
    """
    return jars(_COMPILER, progress)


def compile_java(
    sources: Sequence[Path], java: Java, compiler: Sequence[Path], classpath: Sequence[Path], target: Path
) -> None:
    """Compile to classes of Java 8, into a folder.

    Args:
        sources: Java files.
        java: which runs the compiler.
        compiler: of `compiler_jars`.
        classpath: what the sources need.
        target: the folder, made if need be.

    Raises:
        EnvironmentNotReady: the compiler can't run, or can't compile them.
    """
    title = ", ".join(source.name for source in sources)
    command = [
        *(str(java.executable), *_SHORT_LIVED, "-cp", os.pathsep.join(map(str, compiler)), _MAIN),
        *("-source", "8", "-target", "8", "-nowarn", "-proc:none"),
        *("-cp", os.pathsep.join(map(str, classpath)), "-d", str(target), *map(str, sources)),
    ]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentNotReady(f"{title} can't be compiled: {error}") from error
    if ended.returncode:
        raise EnvironmentNotReady(
            f"{title} can't be compiled with Java {java.version}: {ended.stderr.strip()[-500:]}",
            "Choose another Java with JAVA_HOME.",
        )
