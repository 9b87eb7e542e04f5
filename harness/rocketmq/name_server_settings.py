"""The settings of namesrv.conf that RocketMQ's name servers read, by their names, with their types.

Read from the classes of RocketMQ 4.9.0 to 5.5.0: the setters of NamesrvConfig, NettyServerConfig and
NettyClientConfig that `MixAll.properties2Object` calls.
"""

from collections.abc import Mapping
from typing import Final

from rocketchaos.harness.rocketmq.broker_settings import BROKER_SETTINGS, line_doubt

_OWN: Final = {
    "boolean": """
        clusterTest deleteTopicWithBrokerRegistration enableAllTopicList enableControllerInNamesrv
        enableTopicList needWaitForService notifyMinBrokerIdChanged orderMessageEnable
        returnOrderTopicConfigToBroker supportActingMaster
    """,
    "int": """
        clientRequestThreadPoolNums clientRequestThreadPoolQueueCapacity defaultThreadPoolNums
        defaultThreadPoolQueueCapacity unRegisterBrokerQueueCapacity waitSecondsForService
    """,
    "long": "scanNotActiveBrokerInterval",
    "String": "configBlackList configStorePath kvConfigPath productEnvName rocketmqHome",
}
_NETTY: Final = """
    bindAddress channelNotActiveInterval clientAsyncSemaphoreValue clientCallbackExecutorThreads
    clientChannelMaxIdleTimeSeconds clientCloseSocketIfTimeout clientOnewaySemaphoreValue
    clientPooledByteBufAllocatorEnable clientSocketRcvBufSize clientSocketSndBufSize clientWorkerThreads
    connectTimeoutMillis disableCallbackExecutor disableNettyWorkerGroup enableReconnectForGoAway
    enableShutdownGracefully enableTransparentRetry listenPort maxReconnectIntervalTimeSeconds
    scanAvailableNameSrv serverAsyncSemaphoreValue serverCallbackExecutorThreads
    serverChannelMaxIdleTimeSeconds serverNettyWorkerGroupEnable serverOnewaySemaphoreValue
    serverPooledByteBufAllocatorEnable serverSelectorThreads serverSocketBacklog serverSocketRcvBufSize
    serverSocketSndBufSize serverWorkerThreads shutdownWaitTimeSeconds socksProxyConfig
    useEpollNativeSelector useTLS writeBufferHighWaterMark writeBufferLowWaterMark
"""
"""Those that brokers have too."""

NAME_SERVER_SETTINGS: Final[Mapping[str, str]] = {
    **{name: kind for kind, names in _OWN.items() for name in names.split()},
    **{name: BROKER_SETTINGS[name] for name in _NETTY.split()},
}
"""The type of each, as Java has it."""
CONTROLLER_SETTINGS: Final[Mapping[str, str]] = {
    "controllerRequestThreadPoolQueueCapacity": "int",
    "controllerThreadPoolNums": "int",
    "electMasterMaxRetryCount": "int",
    "enableElectUncleanMaster": "boolean",
    "notifyBrokerRoleChanged": "boolean",
    "scanInactiveMasterInterval": "long",
}
"""Those that a name server reads in addition where it is the controller (`ControllerConfig`, 5.0.0 to 5.3.3)."""


def name_server_doubt(name: str, value: str | int | bool, *, controller: bool = False) -> str | None:
    """Why a line of namesrv.conf probably has no effect; None if it may have one.

    `controller`: the name server is the controller, too.
    """
    known = {**NAME_SERVER_SETTINGS, **(CONTROLLER_SETTINGS if controller else {})}
    return line_doubt(name, value, known, "name servers")
