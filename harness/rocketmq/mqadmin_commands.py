"""The commands of mqadmin by their names.

Read from the classes of rocketmq-tools 4.9.0 to 5.5.0: `SubCommand.commandName()` and `commandAlias()`.
"""

from typing import Final

from rocketchaos.harness.core.nearest import clipped, nearest

_NAMES: Final = """
    addBroker addWritePerm allocateMQ brokerConsumeStats brokerStatus checkMsgSendRT
    checkRocksdbCqWriteProgress cleanBrokerData cleanBrokerMetadata cleanExpiredCQ cleanUnusedTopic
    cloneGroupOffset clusterAclConfigVersion clusterList clusterRT consumeMessage consumer
    consumerConnection consumerProgress consumerStatus copyAcl copyUser createAcl createUser
    deleteAccessConfig deleteAcl deleteAclConfig deleteExpiredCommitLog deleteKvConfig deleteSubGroup
    deleteTopic deleteUser dumpCompactionLog electMaster exportConfigs exportMetadata
    exportMetadataInRocksDB exportMetrics exportPopRecord getAccessConfigSubCommand getAcl getAclConfig
    getBrokerConfig getBrokerEpoch getBrokerLiteInfo getColdDataFlowCtrInfo getConsumerConfig
    getConsumerStatus getControllerConfig getControllerMetaData getLiteClientInfo getLiteGroupInfo
    getLiteTopicInfo getNamesrvConfig getParentTopicInfo getSyncStateSet getUser haStatus listAcl listUser
    printMsg printMsgByQueue producer producerConnection queryCq queryMsgById queryMsgByKey queryMsgByOffset
    queryMsgByUniqueKey queryMsgTraceById remappingStaticTopic removeBroker removeColdDataFlowCtrGroupConfig
    resetMasterFlushOffset resetOffsetByTime resetOffsetByTimeOld rocksDBConfigToJson sendMessage
    sendMsgStatus setCommitLogReadAheadMode setConsumeMode skipAccumulatedMessage startMonitoring statsAll
    switchTimerEngine topicClusterList topicList topicRoute topicStatus triggerLiteDispatch updateAcl
    updateAclConfig updateBrokerConfig updateColdDataFlowCtrGroupConfig updateControllerConfig
    updateGlobalWhiteAddr updateKvConfig updateNamesrvConfig updateOrderConf updateStaticTopic
    updateSubGroup updateSubGroupList updateTopic updateTopicList updateTopicPerm updateUser wipeWritePerm
"""
MQADMIN_COMMANDS: Final = frozenset(_NAMES.split())


def command_doubt(name: str) -> str | None:
    """Why mqadmin probably has no such command; None if some release has it.

    As in `MQAdminStartup.findSubCommand`, upper and lower case are alike.
    """
    if name.lower() in {command.lower() for command in MQADMIN_COMMANDS}:
        return None
    near = nearest(name, MQADMIN_COMMANDS)
    meant = f"; did you mean `{near}`?" if near else ""
    return f"mqadmin of 4.9.0 to 5.5.0 has no command `{clipped(name)}`{meant}"
