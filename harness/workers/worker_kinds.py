"""The kinds of workers: which program, and what it needs; `harness.rocketmq.kinds` name them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocketchaos.harness.jars.artifacts import Progress, Role
from rocketchaos.harness.rocketmq.own_workers import OwnWorker, own_workers
from rocketchaos.harness.workers.client_packages import packages_folder
from rocketchaos.harness.workers.go_program import go_program
from rocketchaos.harness.workers.native_library import library
from rocketchaos.harness.workers.own_program import OwnProgram, own_program

JVM_OPTIONS = (
    # A client needs little; this is what keeps a worker near 100 MB.
    "-Xmx64m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    # Otherwise the heap starts at its maximum: 17 MB more. With less it is collected a dozen times during a start.
    "-Xms16m",
    "-Xmn10m",
    # Its file in the temporary folder would outlive a SIGKILL.
    "-XX:-UsePerfData",
    # The netty of 4.9.0 reads a field of java.nio.Buffer by reflection.
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
)
"""Options of every worker's JVM; options given later win."""


@dataclass(frozen=True, slots=True)
class WorkerKind:
    """One kind of worker."""

    name: str
    module: str
    """The child's program, as `python -m` takes it; it speaks `harness.workers.protocol`. Empty: see `own`."""
    classpath_role: Role | None
    """Which of RocketMQ's class paths it needs: `client` or `tools`; None: it has no JVM."""
    jvm_options: tuple[str, ...] = ()
    packages: str | None = None
    """The extra of our distribution whose packages its child imports: see `harness.workers.client_packages`."""
    native: bool = False
    """Whether its child loads librocketmq, the C++ client: see `harness.workers.native_library`."""
    users_program: bool = False
    """Whether it is a program of the user's: `harness.workers.app_home`, `command_home` or `image_home` starts
    it, and it may end with any exit code on SIGTERM."""
    own: Callable[[str, Progress | None], OwnProgram] | None = None
    """Makes, or finds, the program of one that isn't Python, in a version of its client; None: it is `module`."""

    def packages_folder(self, progress: Progress | None = None) -> Path | None:
        """The folder that has these packages, installed if need be; None: it needs none.

        Raises:
            EnvironmentNotReady: they can't be installed.
        """
        return None if self.packages is None else packages_folder(self.packages, progress)

    def library(self, progress: Progress | None = None) -> Path | None:
        """The native library that it loads, fetched if need be; None: it needs none.

        Raises:
            EnvironmentNotReady: there is none for this machine, or it isn't available.
        """
        return library(progress) if self.native else None

    def program(self, version: str, progress: Progress | None = None) -> OwnProgram | None:
        """The program of a worker that isn't Python, built if need be; None: it is one of ours in Python.

        Args:
            version: of its client.
            progress: called with a few words before anything that takes time.

        Raises:
            EnvironmentNotReady: it isn't available.
        """
        return None if self.own is None else self.own(version, progress)


def log_properties(folder: Path) -> tuple[str, ...]:
    """JVM options with which everything that a RocketMQ client or a JVM writes lands in `folder`.

    The client's log is `rocketmq_client.log`, from level INFO on: `ClientLogger` of 4.9.x and
    `rmq.client.logback.xml` of 5.x have properties of their own. Both write asynchronously, without a
    switch for it, so that SIGKILL may cost the last lines.
    """
    return (
        f"-Drocketmq.client.logRoot={folder}",
        "-Drocketmq.client.logLevel=INFO",
        f"-Drocketmq.log.root={folder}",
        "-Drocketmq.log.level=INFO",
        f"-Duser.home={folder}",
        # Where broadcasting consumers keep their offsets (LocalFileOffsetStore).
        f"-Drocketmq.client.localOffsetStoreDir={folder}/offsets",
        f"-XX:ErrorFile={folder}/hs_err_%p.log",
    )


def kind_of(own: OwnWorker) -> WorkerKind:
    """The kind of a worker of the user's own."""

    def program(_version: str, _progress: Progress | None) -> OwnProgram:
        return own_program(own.command, own.folder)

    return WorkerKind(own.kind.worker, "", None, own=program)


KINDS: Mapping[str, WorkerKind] = {
    kind.name: kind
    for kind in (
        WorkerKind("java", "rocketchaos.harness.workers.child.java_child", "client", JVM_OPTIONS),
        WorkerKind(
            "shared-java",
            "rocketchaos.harness.workers.child.java_child",
            "client",
            (*JVM_OPTIONS, "-Xmx384m"),
        ),
        WorkerKind("grpc", "rocketchaos.harness.workers.child.grpc_child", None, packages="client-grpc"),
        WorkerKind(
            "grpc-java", "rocketchaos.harness.workers.child.grpc_java_child", "grpc-java", JVM_OPTIONS
        ),
        WorkerKind("admin", "rocketchaos.harness.workers.child.admin_child", "tools", JVM_OPTIONS),
        WorkerKind(
            "python",
            "rocketchaos.harness.workers.child.python_child",
            None,
            packages="client-python",
            native=True,
        ),
        WorkerKind("go", "", None, own=go_program),
        WorkerKind("app", "", None, users_program=True),
        WorkerKind("command", "", None, users_program=True),
        WorkerKind("image", "", None, users_program=True),
        *map(kind_of, own_workers()),
    )
}
"""By name."""
