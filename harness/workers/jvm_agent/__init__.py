"""The Java agent that is the worker inside a user's program: compiled and packed where it is needed."""

import hashlib
import os
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.cache_lock import cache_lock
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.jars.bundles import Bundle, jars
from rocketchaos.harness.jars.java_compiler import compile_java, compiler_jars
from rocketchaos.harness.jars.java_home import Java

SOURCES = Path(__file__).absolute().parent
_LIBRARIES = Bundle(
    "jvm-agent",
    "what looks into programs",
    ["org.ow2.asm:asm:9.7.1", "com.google.code.gson:gson:2.11.0"],
    provided=["com.google.errorprone"],
)
_MANIFEST = "Manifest-Version: 1.0\nPremain-Class: rocketchaos.agent.Agent\n\n"


@dataclass(frozen=True, slots=True)
class JvmAgent:
    """The agent's jar, and the libraries that it loads for itself alone."""

    jar: Path
    libraries: tuple[Path, ...]

    def option(self, plan: Path) -> str:
        """The JVM's option that puts it in; `plan` tells it what to look for, see `harness.workers.app_home`."""
        return f"-javaagent:{self.jar}={os.pathsep.join(map(str, (plan, *self.libraries)))}"


def jvm_agent(java: Java, progress: Callable[[str], None]) -> JvmAgent:
    """The agent, compiled where the cache lacks it.

    Args:
        java: which runs the compiler.
        progress: called with a few words on what takes time.

    Raises:
        EnvironmentNotReady: a library or the compiler isn't available, or can't compile it.
    """
    sources = sorted(SOURCES.glob("*.java"))
    libraries = jars(_LIBRARIES, progress)
    digest = hashlib.sha256(b"\0".join([*(file.read_bytes() for file in sources), _MANIFEST.encode()]))
    jar = paths.agents_folder() / f"rocketchaos-agent-{digest.hexdigest()[:12]}.jar"
    if not jar.is_file():
        compiler = compiler_jars(progress)
        with cache_lock(jar.parent, "agents", progress):
            # Another process may have made it while this one waited.
            if not jar.is_file():
                progress("compiling what looks into programs")
                _pack(sources, java, compiler, libraries, jar)
    return JvmAgent(jar, libraries)


def _pack(
    sources: Sequence[Path], java: Java, compiler: Sequence[Path], libraries: Sequence[Path], jar: Path
) -> None:
    try:
        with TemporaryDirectory(dir=jar.parent) as scratch:
            classes = Path(scratch) / "classes"
            compile_java(sources, java, compiler, libraries, classes)
            part = Path(scratch) / jar.name
            with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as content:
                content.writestr("META-INF/MANIFEST.MF", _MANIFEST)
                for file in sorted(classes.rglob("*.class")):
                    content.write(file, file.relative_to(classes))
            part.replace(jar)
    except OSError as error:
        raise EnvironmentNotReady(
            f"the agent for programs can't be written: {error.strerror or error}: {jar}",
            "Free some disk space, or set ROCKETCHAOS_CACHE to a folder elsewhere.",
        ) from error
