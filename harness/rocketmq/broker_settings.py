"""The settings of broker.conf that RocketMQ's brokers read, by their names, with their types.

Read from the classes of RocketMQ 4.9.0 to 5.5.0: the setters of BrokerConfig, MessageStoreConfig,
NettyServerConfig, NettyClientConfig and AuthConfig that `MixAll.properties2Object` calls.
"""

from collections.abc import Mapping
from typing import Final

from rocketchaos.harness.core.nearest import clipped, nearest

_NAMES: Final = {
    "boolean": """
        accountStatsEnable accountStatsPrintZeroValues aclEnable allAckInSyncStateSet
        allowRecallWhenBrokerNotWriteable appendAckAsync appendCkAsync appendTopicForTimerDeleteKey
        asyncLearner asyncSendEnable authenticationEnabled authorizationEnabled
        autoCreateSubscriptionGroup autoCreateTopicEnable autoDeleteUnusedStats
        autoMessageVersionOnTopicLen brokerFastFailureEnable brokerTopicEnable checkCRCOnRecover
        checkCommitLogOffsetOnRecover cleanFileForciblyEnable clearRetryTopicWhenDeleteTopic
        clientCloseSocketIfTimeout clientPooledByteBufAllocatorEnable clusterTopicEnable
        coldCtrStrategyEnable coldDataFlowControlEnable coldDataScanEnable combineCQEnableCheckSelf
        combineCQUseRocksdbForLmq commercialEnable compatibleWithOldNameSrv compressedRegister
        dataReadAheadEnable debugLockEnable disableCallbackExecutor disableConsumeIfConsumerReadSlowly
        disableNettyWorkerGroup diskFallRecorded dispatchFromSenderThread duplicationEnable
        enableAcceleratedRecovery enableAsyncReput enableAutoInSyncReplicas enableBatchPush
        enableBroadcastOffsetStore enableBuildConsumeQueueConcurrently enableCalcFilterBitMap
        enableCleanExpiredOffset enableCompaction enableConnectionMetrics enableConsumeQueueExt
        enableControllerMode enableCreateSysGroup enableDLegerCommitLog enableDetailStat
        enableFastChannelEventProcess enableLagAndDlqMetrics enableLiteEventMode enableLitePopLog
        enableLmq enableLmqQuota enableLmqStats enableLogConsumeQueueRepeatedlyBuildWhenRecover
        enableMessageStoreMetrics enableMixedMessageType enableMultiDispatch enableNetWorkFlowControl
        enableNotifyAfterPopOrderLockRelease enableNotifyBeforePopCalculateLag enablePopBatchAck
        enablePopBufferMerge enablePopLog enablePopMessageThreshold enablePopMetrics enablePropertyFilter
        enableReconnectForGoAway enableRegisterProducer enableRemoteEscape enableRemotingMetrics
        enableRequestMetrics enableRetryTopicV2 enableRocksDBLog enableRunningFlagsInFlush
        enableScheduleAsyncDeliver enableScheduleMessageStats enableShutdownGracefully
        enableSingleTopicRegister enableSkipLongAwaitingAck enableSlaveActingMaster enableSplitMetadata
        enableSplitRegistration enableStatsMetrics enableTransactionMetrics enableTransparentRetry
        enabledAppendPropCRC estimateAccumulation fastFailIfNoBufferInStorePool
        fetchControllerAddrByDnsLookup fetchNameSrvAddrByDnsLookup fetchNamesrvAddrByAddressServer
        filterSupportRetry flushCommitLogTimed forceRegister forceVerifyPropCRC haFlowControlEnable
        highSpeedMode inBrokerContainer indexFileReadEnable indexFileWriteEnable indexRocksDBEnable
        initPopOffsetByCheckMsgInMem isolateLogEnable iteratorWhenUseRocksdbConsumeQueue
        liteLagCountMetricsEnable liteLagLatencyCollectEnable liteLagLatencyMetricsEnable
        litePullMessageEnable lockInStrictMode longPollingEnable mappedFileSwapEnable messageIndexEnable
        messageIndexSafe metricsInDelta migrateAuthFromV1Enabled notifyConsumerIdsChangedEnable
        offsetCheckInSlave persistConsumerOffsetIncrementally popConsumerFSServiceInit
        popConsumerKVServiceEnable popConsumerKVServiceInit popConsumerKVServiceLog
        popResponseReturnActualRetryTopic popReviveSkipIfGroupAbsent printChannelGroups priorityOrderAsc
        putConsumeQueueDataByFileChannel readUnCommitted realTimeNotifyConsumerChange
        realTimePersistRocksDBConfig recallMessageEnable recheckReputOffsetFromCq recoverConcurrently
        rejectPullConsumerEnable rejectTransactionMessage retrieveMessageFromPopRetryTopicV1
        rocksdbCQDoubleWriteEnable scanAvailableNameSrv searchBcqByCacheEnable serverLoadBalancerEnable
        serverNettyWorkerGroupEnable serverPooledByteBufAllocatorEnable skipPreOnline
        skipWhenCKRePutReachMaxTimes slaveReadEnable storeReplyMessageEnable syncFromLastFile
        syncMasterFlushOffsetWhenStartup timerEnableCheckMetrics timerEnableRetryUntilSuccess
        timerInterceptDelayLevel timerRecallToTimeWheelEnable timerRecallToTimelineEnable
        timerRocksDBEnable timerRocksDBStopScan timerSkipUnknownError timerStopEnqueue timerWheelEnable
        timerWheelSnapshotFlush traceOn traceTopicEnable transRocksDBEnable
        transWriteOriginTransHalfEnable transferMsgByHeap transientStorePoolEnable useABSLock
        useEpollNativeSelector useMessageFilterForNotification usePIDColdCtrStrategy
        useReentrantLockWhenPutMessage useSeparateRetryQueue useSeparateStorePathForRocksdbCQ
        useServerSideResetOffset useSingleRocksDBForAllConfigs useStaticSubscription useTLS
        validateSystemTopicWhenUpdateTopic wakeCommitWhenPutMessage wakeFlushWhenPutMessage
        warmMapedFileEnable writeWithoutMmap
    """,
    "int": """
        accessMessageInMemoryHotRatio accessMessageInMemoryMaxRatio ackMessageThreadPoolNums
        ackThreadPoolQueueCapacity aclCacheExpiredSecond aclCacheMaxNum aclCacheRefreshSecond
        adminBrokerThreadPoolNums adminBrokerThreadPoolQueueCapacity batchDispatchRequestThreadPoolNums
        bitMapLengthConsumeQueueExt brokerElectionPriority brokerHeartbeatInterval brokerPermission
        cleanOfflineBrokerInterval cleanResourceInterval clientAsyncSemaphoreValue
        clientCallbackExecutorThreads clientChannelMaxIdleTimeSeconds clientManageThreadPoolNums
        clientManagerThreadPoolQueueCapacity clientOnewaySemaphoreValue clientSocketRcvBufSize
        clientSocketSndBufSize clientWorkerThreads combineCQMaxExtraSearchCommitLogFiles
        commercialBaseCount commercialBigCount commercialSizePerMsg commercialTimerCount
        commercialTransCount commitCommitLogLeastPages commitCommitLogThoroughInterval
        commitIntervalCommitLog commitLogRecoverMaxNum commitLogSwapMapReserveFileNum
        compactionCqMappedFileSize compactionMappedFileSize compactionScheduleInternal compactionThreadNum
        connectTimeoutMillis consumerManageThreadPoolNums consumerManagerThreadPoolQueueCapacity
        correctLogicMinOffsetForceInterval correctLogicMinOffsetSleepInterval defaultPopShareQueueNum
        defaultQueryMaxNum defaultTopicQueueNums deleteCommitLogFilesInterval
        deleteConsumeQueueFilesInterval deleteFileBatchMax destroyMapedFileIntervalForcibly
        disappearTimeAfterStart diskMaxUsedSpaceRatio diskSpaceCleanForciblyRatio
        diskSpaceWarningLevelRatio dispatchCqCacheNum dispatchCqThreads endTransactionPoolQueueCapacity
        endTransactionThreadPoolNums expectConsumerNumUseFilter fileReservedTime filterServerNums
        flushCommitLogLeastPages flushCommitLogThoroughInterval flushConsumeQueueLeastPages
        flushConsumeQueueThoroughInterval flushConsumerOffsetHistoryInterval flushConsumerOffsetInterval
        flushIntervalCommitLog flushIntervalConsumeQueue flushLeastPagesWhenWarmMapedFile
        haHousekeepingInterval haListenPort haMaxGapNotInSync haSendHeartbeatInterval haSlaveFallbehindMax
        haTransferBatchSize heartbeatThreadPoolNums heartbeatThreadPoolQueueCapacity inSyncReplicas
        listenPort liteLagLatencyTopK litePullMessageThreadPoolNums litePullThreadPoolQueueCapacity
        loadBalanceProcessorThreadPoolNums loadBalanceThreadPoolQueueCapacity
        logicQueueSwapMapReserveFileNum mappedFileSizeCommitLog mappedFileSizeConsumeQueue
        mappedFileSizeConsumeQueueExt mappedFileSizeTimerLog mapperFileSizeBatchConsumeQueue
        maxAsyncPutMessageRequests maxBatchDeleteFilesNum maxClientEventCount maxConsumeQueueScan
        maxDelayTime maxErrorRateOfBloomFilter maxFilterMessageSize maxHashSlotNum maxIndexNum
        maxLmqConsumeQueueNum maxMessageFilterNumForNotification maxMessageSize maxMsgsNumBatch
        maxOffsetMapSize maxRecoveryCommitlogFiles maxRocksDBIndexQueryDays maxStatsIdleTimeInMinutes
        maxTopicLength maxTransferBytesOnMessageInDisk maxTransferBytesOnMessageInMemory
        maxTransferCountOnMessageInDisk maxTransferCountOnMessageInMemory metricsExportBatchMaxDataPoints
        metricsOtelCardinalityLimit metricsPromExporterPort minInSyncReplicas popCkMaxBufferSize
        popCkOffsetMaxQueueSize popCkStayBufferTime popCkStayBufferTimeOut popFromRetryProbability
        popFromRetryProbabilityForPriority popPollingMapExpireTimeSeconds popPollingMapSize popPollingSize
        popReviveConcurrency popReviveMaxAttemptTimes popReviveMaxReturnSizePerRead
        printChannelGroupsMinNum processReplyMessageThreadPoolNums pullBatchMaxMessageCount
        pullMessageThreadPoolNums pullThreadPoolQueueCapacity putMessageFutureThreadPoolNums
        putMessageTimeout putMsgIndexHightWater putThreadPoolQueueCapacity queryMessageThreadPoolNums
        queryThreadPoolQueueCapacity recoverThreadPoolNums redeleteHangedFileInterval
        registerBrokerTimeoutMills registerNameServerPeriod replicasPerDiskPartition
        replyThreadPoolQueueCapacity reviveQueueNum rocksdbFlushWalFrequency sampleCountThreshold
        sampleSteps scheduleAsyncDeliverMaxPendingLimit scheduleAsyncDeliverMaxResendNum2Blocked
        sendHeartbeatTimeoutMillis sendMessageThreadPoolNums sendThreadPoolQueueCapacity
        serverAsyncSemaphoreValue serverCallbackExecutorThreads serverChannelMaxIdleTimeSeconds
        serverOnewaySemaphoreValue serverSelectorThreads serverSocketBacklog serverSocketRcvBufSize
        serverSocketSndBufSize serverWorkerThreads sharedByteBufferNum shutdownWaitTimeSeconds
        slaveTimeout spinLockCollisionRetreatOptimalDegree splitMetadataSize splitRegistrationSize
        statefulAuthenticationCacheExpiredSecond statefulAuthenticationCacheMaxNum
        statefulAuthorizationCacheExpiredSecond statefulAuthorizationCacheMaxNum
        syncBrokerMemberGroupPeriod syncFlushTimeout timerColdDataCheckIntervalMs timerCongestNumEachSlot
        timerFlushIntervalMs timerGetMessageThreadNum timerMaxDelaySec timerMetricSmallThreshold
        timerPrecisionMs timerProgressLogIntervalMs timerPutMessageThreadNum timerReputServiceCorePoolSize
        timerReputServiceMaxPoolSize timerReputServiceQueueCapacity timerRocksDBRollIntervalHours
        timerRocksDBRollRangeHours timerRollWindowSlot timerWheelSnapshotIntervalMs topicQueueLockNum
        totalReplicas transactionCheckMax transactionCheckRocksdbCoreThreads
        transactionCheckRocksdbMaxThreads transactionCheckRocksdbQueueCapacity transactionOpBatchInterval
        transactionOpMsgMaxSize transientStorePoolSize travelCqFileNumWhenGetMessage
        updateNameServerAddrPeriod userCacheExpiredSecond userCacheMaxNum userCacheRefreshSecond
        writeBufferHighWaterMark writeBufferLowWaterMark
    """,
    "long": """
        broadcastOffsetExpireMaxSecond broadcastOffsetExpireSecond brokerId brokerNotActiveTimeoutMillis
        cgColdReadThreshold channelExpiredTimeout channelNotActiveInterval checkSyncStateSetPeriod
        cleanRocksDBDirtyCQIntervalMin cleanSwapedMapInterval commitLogForceSwapMapInterval
        commitLogSwapMapInterval consumerFallbehindThreshold consumerOffsetUpdateVersionStep
        controllerHeartBeatTimeoutMills delayOffsetUpdateVersionStep fetchNamesrvAddrInterval
        filterDataCleanTimeSpan flushDelayOffsetInterval forwardTimeout globalColdReadThreshold
        haMaxTimeSlaveNotCatchup liteEventCheckInterval liteEventFullDispatchDelayTime
        liteEventFullDispatchDelayTimeForWildcardGroup liteSubscriptionCheckInterval
        liteSubscriptionCheckTimeoutMills liteTtlCheckInterval loadBalancePollNameServerInterval
        logicQueueForceSwapMapInterval logicQueueSwapMapInterval maxChecksumRange
        maxHaTransferByteInSecond maxLiteSubscriptionCount maxPopPollingSize
        maxReconnectIntervalTimeSeconds maxSlaveResendLength memTableFlushIntervalMs
        metricGrpcExporterIntervalInMills metricGrpcExporterTimeOutInMills
        metricLoggingExporterIntervalInMills minLiteTTl osPageCacheBusyTimeOutMills
        popInflightMessageThreshold popLongPollingForceNotifyInterval reviveAckWaitMs reviveInterval
        reviveMaxSlow reviveScanTime rocksdbWalFileRollingThreshold shortPollingTimeMills
        startAcceptSendRequestTimeStamp statRocksDBCQIntervalSec subscriptionExpiredTimeout
        syncBrokerMetadataPeriod syncControllerMetadataPeriod timerRocksDBPrecisionMs
        transactionCheckInterval transactionMetricFlushInterval transactionTimeOut waitTimeMillsInAckQueue
        waitTimeMillsInAdminBrokerQueue waitTimeMillsInHeartbeatQueue waitTimeMillsInLitePullQueue
        waitTimeMillsInPullQueue waitTimeMillsInSendQueue waitTimeMillsInTransactionQueue
    """,
    "double": """
        logicalDiskSpaceCleanForciblyThreshold timerRocksDBRollMaxTps timerRocksDBTimeExpiredMaxTps
    """,
    "String": """
        authConfigPath authenticationMetadataProvider authenticationProvider authenticationStrategy
        authenticationWhitelist authorizationMetadataProvider authorizationProvider authorizationStrategy
        authorizationWhitelist bindAddress bottomMostCompressionTypeForConsumeQueueStore brokerClusterName
        brokerConfigPath brokerIP1 brokerIP2 brokerName brokerRole clusterName combineAssignOffsetCQType
        combineCQLoadingCQTypes combineCQPreferCQType configBlackList configManagerVersion configName
        controllerAddr defaultMessageRequestMode deleteWhen flushDiskType haMasterAddress
        initAuthenticationUser innerClientAuthenticationCredentials messageDelayLevel messageStorePlugIn
        metricsExporterType metricsGrpcExporterHeader metricsGrpcExporterTarget metricsLabel
        metricsPromExporterHost msgTraceTopicName namesrvAddr preferredLeaderId
        readOnlyCommitLogStorePaths regionId rocketmqHome rocksdbCompressionType socksProxyConfig
        storePathBrokerIdentity storePathCommitLog storePathDLedgerCommitLog storePathEpochFile
        storePathRootDir storeType
    """,
}

BROKER_SETTINGS: Final[Mapping[str, str]] = {
    name: kind for kind, names in _NAMES.items() for name in names.split()
}
"""The type of each, as Java has it."""
_NAMES_OF_4_9: Final = """
    accessMessageInMemoryMaxRatio aclEnable adminBrokerThreadPoolNums autoCreateSubscriptionGroup
    autoCreateTopicEnable autoDeleteUnusedStats bitMapLengthConsumeQueueExt brokerClusterName
    brokerFastFailureEnable brokerIP1 brokerIP2 brokerId brokerName brokerPermission brokerRole
    brokerTopicEnable channelNotActiveInterval checkCRCOnRecover cleanFileForciblyEnable
    cleanResourceInterval clientAsyncSemaphoreValue clientCallbackExecutorThreads
    clientChannelMaxIdleTimeSeconds clientCloseSocketIfTimeout clientManageThreadPoolNums
    clientManagerThreadPoolQueueCapacity clientOnewaySemaphoreValue clientPooledByteBufAllocatorEnable
    clientSocketRcvBufSize clientSocketSndBufSize clientWorkerThreads clusterTopicEnable
    commercialBaseCount commercialBigCount commercialEnable commercialTimerCount commercialTransCount
    commitCommitLogLeastPages commitCommitLogThoroughInterval commitIntervalCommitLog compressedRegister
    configBlackList connectTimeoutMillis consumerFallbehindThreshold consumerManageThreadPoolNums
    consumerManagerThreadPoolQueueCapacity debugLockEnable defaultQueryMaxNum defaultTopicQueueNums
    deleteCommitLogFilesInterval deleteConsumeQueueFilesInterval deleteWhen
    destroyMapedFileIntervalForcibly disableConsumeIfConsumerReadSlowly diskFallRecorded
    diskMaxUsedSpaceRatio duplicationEnable enableBatchPush enableCalcFilterBitMap enableConsumeQueueExt
    enableDLegerCommitLog enableDetailStat enableLmq enableMultiDispatch enablePropertyFilter
    enableScheduleAsyncDeliver enableScheduleMessageStats endTransactionPoolQueueCapacity
    endTransactionThreadPoolNums expectConsumerNumUseFilter fastFailIfNoBufferInStorePool
    fetchNamesrvAddrByAddressServer fileReservedTime filterDataCleanTimeSpan filterServerNums
    filterSupportRetry flushCommitLogLeastPages flushCommitLogThoroughInterval flushCommitLogTimed
    flushConsumeQueueLeastPages flushConsumeQueueThoroughInterval flushConsumerOffsetHistoryInterval
    flushConsumerOffsetInterval flushDelayOffsetInterval flushDiskType flushIntervalCommitLog
    flushIntervalConsumeQueue flushLeastPagesWhenWarmMapedFile forceRegister haHousekeepingInterval
    haListenPort haMasterAddress haSendHeartbeatInterval haSlaveFallbehindMax haTransferBatchSize
    heartbeatThreadPoolNums heartbeatThreadPoolQueueCapacity highSpeedMode isolateLogEnable listenPort
    longPollingEnable mappedFileSizeCommitLog mappedFileSizeConsumeQueue mappedFileSizeConsumeQueueExt
    maxDelayTime maxErrorRateOfBloomFilter maxHashSlotNum maxIndexNum maxLmqConsumeQueueNum
    maxMessageSize maxMsgsNumBatch maxTransferBytesOnMessageInDisk maxTransferBytesOnMessageInMemory
    maxTransferCountOnMessageInDisk maxTransferCountOnMessageInMemory messageDelayLevel
    messageIndexEnable messageIndexSafe messageStorePlugIn msgTraceTopicName namesrvAddr
    notifyConsumerIdsChangedEnable offsetCheckInSlave osPageCacheBusyTimeOutMills preferredLeaderId
    processReplyMessageThreadPoolNums pullMessageThreadPoolNums pullThreadPoolQueueCapacity
    putMessageFutureThreadPoolNums putMsgIndexHightWater putThreadPoolQueueCapacity
    queryMessageThreadPoolNums queryThreadPoolQueueCapacity readOnlyCommitLogStorePaths
    redeleteHangedFileInterval regionId registerBrokerTimeoutMills registerNameServerPeriod
    rejectTransactionMessage replyThreadPoolQueueCapacity rocketmqHome
    scheduleAsyncDeliverMaxPendingLimit scheduleAsyncDeliverMaxResendNum2Blocked
    sendMessageThreadPoolNums sendThreadPoolQueueCapacity serverAsyncSemaphoreValue
    serverCallbackExecutorThreads serverChannelMaxIdleTimeSeconds serverOnewaySemaphoreValue
    serverPooledByteBufAllocatorEnable serverSelectorThreads serverSocketBacklog serverSocketRcvBufSize
    serverSocketSndBufSize serverWorkerThreads shortPollingTimeMills slaveReadEnable slaveTimeout
    startAcceptSendRequestTimeStamp storePathCommitLog storePathDLedgerCommitLog storePathRootDir
    storeReplyMessageEnable syncFlushTimeout traceOn traceTopicEnable transactionCheckInterval
    transactionCheckMax transactionTimeOut transferMsgByHeap transientStorePoolEnable
    transientStorePoolSize useEpollNativeSelector useReentrantLockWhenPutMessage useTLS
    waitTimeMillsInHeartbeatQueue waitTimeMillsInPullQueue waitTimeMillsInSendQueue
    waitTimeMillsInTransactionQueue warmMapedFileEnable writeBufferHighWaterMark writeBufferLowWaterMark
"""
_OF_4_9: Final = frozenset(_NAMES_OF_4_9.split())
"""Those that some release of 4.9.x has: the setters in its tags."""

_CHOICES: Final = {"flushDiskType": ("ASYNC_FLUSH", "SYNC_FLUSH")}
"""Texts that are read by `Enum.valueOf`: `MixAll.properties2Object` drops what that throws."""


def setting_doubt(name: str, value: str | int | bool) -> str | None:
    """Why a line of broker.conf probably has no effect; None if it may have one."""
    return line_doubt(name, value, BROKER_SETTINGS, "brokers")


def line_doubt(name: str, value: str | int | bool, known: Mapping[str, str], servers: str) -> str | None:
    """Why a line of a server's configuration probably has no effect; None if it may have one.

    RocketMQ ignores what it doesn't know or can't read, without a line in a log.

    Args:
        name: the setting's.
        value: what the line gives it.
        known: the settings of such servers, with their types.
        servers: such servers, in a sentence.
    """
    kind = known.get(name)
    if kind is None:
        near = nearest(name, known)
        meant = f"; did you mean `{near}`?" if near else ""
        return (
            f"{servers} of 4.9.0 to 5.5.0 have no setting `{clipped(name)}`: a run ends with an error{meant}"
        )
    text = str(value).lower()
    if kind == "boolean":
        wrong = text not in ("true", "false")
        return f"`{name}` is `true` or `false`: {servers} read any other text as `false`" if wrong else None
    choices = _CHOICES.get(name)
    if choices is not None and str(value) not in choices:
        return (
            f"`{name}` is {' or '.join(f'`{choice}`' for choice in choices)}: {servers} ignore any other text"
        )
    if kind == "String" or _is_number(text, whole=kind != "double"):
        return None
    return f"`{name}` needs {'a' if kind == 'double' else 'a whole'} number: {servers} ignore what they can't read"


def is_of_5(name: str) -> bool:
    """Whether only brokers of 5.x know this setting: those of 4.9.x ignore it, without a line in a log."""
    return name in BROKER_SETTINGS and name not in _OF_4_9


def _is_number(text: str, whole: bool) -> bool:
    try:
        int(text) if whole else float(text)
    except ValueError:
        return False
    return True
