"""What RocketMQ's servers get when they start: configuration files, logging, JVM arguments.

Settings were read in `BrokerConfig`, `MessageStoreConfig`, `NettyServerConfig` and `NamesrvConfig` of 4.9.4
and 5.3.3. Unknown ones are ignored by RocketMQ, so one file serves all versions.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import MappingProxyType

from rocketchaos.harness.cluster.base import Proxy

CLUSTER_NAME = "rocketchaos"
"""The `brokerClusterName` of every broker."""
PROXY_FILE = "rmq-proxy.json"
BROKER_FILE = "broker.conf"

LOOPBACK = "127.0.0.1"

DISK_WARNING_RATIO_4 = 0.98
"""Fuller than that, a 4.9.x broker that was started here refuses messages."""
DISK_WARNING_RATIO_5 = 0.90
"""Fuller than that, a 5.x broker refuses messages; its code admits no higher value."""

_LOGBACK = """<configuration>
  <appender name="file" class="ch.qos.logback.core.FileAppender">
    <file>${rocketchaos.log}</file>
    <encoder><pattern>%d{yyyy-MM-dd HH:mm:ss.SSS} %p %t - %m%n</pattern></encoder>
  </appender>
  <logger name="RocketmqWaterMark" level="WARN"/>
  <root level="INFO"><appender-ref ref="file"/></root>
</configuration>
"""


STORE = "store"
"""In a broker's folder: its storePathRootDir."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a server is."""

    host: str
    """The address at which it listens."""
    port: int
    folder: PurePath
    """For what it stores, as it sees it."""
    advertised_host: str | None = None
    """Under which clients are to reach it instead: another address, or a name."""

    @property
    def address(self) -> str:
        """`host:port` at which it listens."""
        return f"{self.host}:{self.port}"

    @property
    def advertised(self) -> str:
        """`host:port` under which it is registered."""
        return f"{self.advertised_host or self.host}:{self.port}"


def nameserver_file(site: Site, lines: Mapping[str, str]) -> str:
    """`namesrv.properties` of a name server, with these lines in addition to those of the harness."""
    return properties_text(
        {
            **lines,
            "listenPort": str(site.port),
            # Known from 5.0.0 on; 4.9.x has no such setting and listens on every address.
            "bindAddress": site.host,
            "kvConfigPath": str(site.folder / "kvConfig.json"),
        }
    )


SLAVE_SETTINGS: Mapping[str, str] = MappingProxyType({"brokerId": "1", "brokerRole": "SLAVE"})
"""What makes a broker the slave of the master of its name, whose addresses it learns when it registers.

It copies the commit log all the time; topics, offsets and groups (`SlaveSynchronize`) every 10 s, from 5.0.0 on
10 s after its start and then every 60 s. No `haMasterAddress`: 5.x takes that before there is anything to take it
(`BrokerController.initializeBrokerScheduledTasks`, `DefaultHAService.updateHaMasterAddress`; 5.3.3), and then
copies nothing.
"""


def controller_settings(controller: str, folder: PurePath) -> dict[str, str]:
    """Lines with which a name server is the controller, too: a single one, which answers at `controller`.

    Read in `ControllerConfig` of 5.0.0 to 5.3.3.
    """
    return {
        "enableControllerInNamesrv": "true",
        "controllerDLegerGroup": "controller",
        "controllerDLegerPeers": f"n0-{controller}",
        "controllerDLegerSelfId": "n0",
        "controllerStorePath": str(folder / "controller"),
        # It stores a few hundred bytes for each election. RocketMQ's own is 1 GiB.
        "mappedFileSize": str(1024 * 1024),
    }


def controlled_settings(controller: str) -> dict[str, str]:
    """Lines with which the controller at this address decides on a broker's role, and gives it its number.

    Until then it is a slave without a number, as in `conf/controller/quick-start` of RocketMQ.
    """
    return {
        "enableControllerMode": "true",
        "controllerAddr": controller,
        "brokerId": "-1",
        "brokerRole": "SLAVE",
    }


def broker_file(
    name: str,
    site: Site,
    nameserver: str,
    configurations: Sequence[Mapping[str, str]],
) -> str:
    """`broker.conf` of a broker, by default a master (ASYNC_MASTER); later configurations win."""
    store = site.folder / STORE
    settings = {
        "brokerClusterName": CLUSTER_NAME,
        "brokerName": name,
        "brokerId": "0",
        "brokerIP1": site.advertised_host or site.host,
        "brokerIP2": site.host,
        "bindAddress": site.host,
        "listenPort": str(site.port),
        "namesrvAddr": nameserver,
        "storePathRootDir": str(store),
        "storePathCommitLog": str(store / "commitlog"),
        # Small files: a scenario writes kilobytes. RocketMQ's own are 1 GiB, 6 MB and 420 MB.
        "mappedFileSizeCommitLog": str(16 * 1024 * 1024),
        "mappedFileSizeConsumeQueue": "60000",
        "maxHashSlotNum": "100000",
        "maxIndexNum": "400000",
        # Delayed messages of 5.x, which POP consumers need for every pull. RocketMQ's own is 100 MB.
        "mappedFileSizeTimerLog": str(1024 * 1024),
        # How long a 5.x broker burns a whole core once it has started: its TransactionMetricsFlushService waits
        # only from its second round on (5.5.0; apache/rocketmq#10515). RocketMQ's own is 10 s. What is
        # written so often now are counts of half messages, for metrics alone.
        "transactionMetricFlushInterval": "100",
        # A disk that others fill is no reason to delete messages. 95 is the highest value that counts.
        "diskMaxUsedSpaceRatio": "95",
        "cleanFileForciblyEnable": "false",
        # A busy machine is no reason to refuse messages: RocketMQ does after 200 ms and 1000 ms of waiting.
        "waitTimeMillsInSendQueue": "10000",
        "osPageCacheBusyTimeOutMills": "10000",
    }
    for configuration in configurations:
        settings.update(configuration)
    return properties_text(settings)


def proxy_file(proxy: Proxy, nameserver: str, settings: Mapping[str, int | str]) -> str:
    """`rmq-proxy.json` of a proxy (ProxyConfig, 5.3.3), with its address for clients; it listens on every one."""
    host, _, grpc_port = proxy.grpc_endpoint.rpartition(":")
    return json.dumps(
        {
            "rocketMQClusterName": CLUSTER_NAME,
            "namesrvAddr": nameserver,
            "proxyMode": proxy.mode.upper(),
            "localServeAddr": host,
            "grpcServerPort": int(grpc_port),
            "remotingListenPort": int(proxy.remoting_address.rpartition(":")[2]),
            **settings,
        },
        indent=1,
    )


def properties_text(settings: Mapping[str, str]) -> str:
    """The text of a Java properties file that reads back as these settings, whatever characters they have."""
    return "".join(f"{_escape(key)}={_escape(value)}\n" for key, value in settings.items())


LOGBACK_FILES = ("logback_{}.xml", "rmq.{}.logback.xml")
"""The names under which 4.9.x and 5.x look for the log configuration of a program in `$ROCKETMQ_HOME/conf`."""


def write_logback(folder: Path) -> None:
    """Write the log configuration to `conf/`, where `ROCKETMQ_HOME` points.

    4.9.x and 5.0.x take it from there by name, later ones from a system property. There it is read by a copy
    of logback in another package, which renames the classes by itself (`JoranConfiguratorExt`).
    """
    conf = folder / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    for program in ("namesrv", "broker", "proxy"):
        for name in LOGBACK_FILES:
            (conf / name.format(program)).write_text(_LOGBACK, encoding="utf-8")


def jvm_arguments(folder: Path, log: Path, *, tls: bool) -> list[str]:
    """Arguments for a server on this host that is small, starts fast, and leaves no file outside of its folder."""
    return [
        *portable_jvm_arguments(log, tls=tls),
        "-XX:+UseSerialGC",
        # `MappedFile.clean` (4.9.4) unmaps by reflection: when a broker loads its store, and deletes old files.
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
        "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
        f"-XX:ErrorFile={folder / 'jvm-crash.log'}",
        f"-Duser.home={folder}",
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-Drmq.logback.configurationFile={folder / 'conf' / 'logback_broker.xml'}",
    ]


def portable_jvm_arguments(log: PurePath, *, tls: bool) -> list[str]:
    """Those of them that any Java from 8 on takes, together with all options of an image's own scripts."""
    return [
        "-Xms64m",
        "-Xmx256m",
        # As in RocketMQ's own `runbroker.sh`; without, it is as much as the heap. From 5.0 on, each thread that
        # ever stored a message keeps 4 MiB, `maxMessageSize`, for the next (`MessageExtEncoder`); in POP mode that
        # is any of dozens. Beyond the limit a pop fails on the broker, and its member waits in vain.
        "-XX:MaxDirectMemorySize=15g",
        "-XX:TieredStopAtLevel=1",
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData",
        # RocketMQ's default is permissive; making a key takes a part of the time of every start.
        f"-Dtls.server.mode={'permissive' if tls else 'disabled'}",
        f"-Drocketchaos.log={log}",
        disk_warning(DISK_WARNING_RATIO_4),
        f"-Drocketmq.broker.diskSpaceCleanForciblyRatio={DISK_WARNING_RATIO_4}",
    ]


def disk_warning(ratio: float) -> str:
    """The argument of the JVM with which a broker takes a disk for full that is used beyond this ratio.

    4.9.x knows nothing else for it (`CleanCommitLogService`); 5.x takes it as well, but never below 0.35.
    """
    return f"-Drocketmq.broker.diskSpaceWarningLevelRatio={ratio}"


def _escape(text: str) -> str:
    # Java reads properties files as Latin-1, and takes these characters for its own.
    plain = "".join("\\" + character if character in "\\=:#! " else character for character in text)
    plain = plain.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return "".join(
        character
        if ord(character) < 128
        else "".join(f"\\u{unit:04x}" for unit in memoryview(character.encode("utf-16-le")).cast("H"))
        for character in plain
    )
