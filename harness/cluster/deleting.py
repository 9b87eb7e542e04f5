"""Deletes topics and groups, as RocketMQ's tools do it.

DeleteTopicSubCommand and DeleteSubscriptionGroupCommand, 4.9.4 and 5.5.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.response_codes import in_words

if TYPE_CHECKING:
    from rocketchaos.harness.cluster.run_servers import Servers

GET_TOPIC_STATS_INFO, GET_ROUTEINFO_BY_TOPIC = 202, 105
DELETE_SUBSCRIPTIONGROUP, DELETE_TOPIC_IN_BROKER, DELETE_TOPIC_IN_NAMESRV = 207, 215, 216


def delete_topic(servers: Servers, real: str, brokers: Mapping[str, str]) -> dict[str, str]:
    """Delete a topic on these brokers (name to address), then at every name server that can be asked.

    Returns:
        What each of them then answers about it, in RocketMQ's words: brokers to 202, name servers to 105.

    Raises:
        PreconditionNotMet: one refuses, or doesn't answer.
    """
    name_servers = {
        node.name: node.address
        for node in servers.cluster.nodes
        if node.role == "nameserver" and node.name not in servers.down
    }
    for name, address in brokers.items():
        _demand(name, address, DELETE_TOPIC_IN_BROKER, {"topic": real})
    for name, address in name_servers.items():
        _demand(name, address, DELETE_TOPIC_IN_NAMESRV, {"topic": real})
    return {
        name: in_words(_ask(name, address, code, {"topic": real}).code)
        for code, nodes in ((GET_TOPIC_STATS_INFO, brokers), (GET_ROUTEINFO_BY_TOPIC, name_servers))
        for name, address in nodes.items()
    }


def delete_group(real: str, brokers: Mapping[str, str], *, offsets: bool) -> None:
    """Delete a group on these brokers, and its offsets with it where that is asked for.

    Raises:
        PreconditionNotMet: one refuses, or doesn't answer.
    """
    # The field has another name since 5.0; a broker ignores the one that it doesn't know.
    removed = str(offsets).lower()
    fields = {"groupName": real, "removeOffset": removed, "cleanOffset": removed}
    for name, address in brokers.items():
        _demand(name, address, DELETE_SUBSCRIPTIONGROUP, fields)


def _demand(node: str, address: str, code: int, fields: Mapping[str, str]) -> None:
    answer = _ask(node, address, code, fields)
    if answer.code != remoting.SUCCESS:
        raise PreconditionNotMet(
            f"{node} refuses request {code}: {in_words(answer.code)}, {answer.remark}", about=(node,)
        )


def _ask(node: str, address: str, code: int, fields: Mapping[str, str]) -> remoting.Answer:
    try:
        return remoting.ask(address, code, dict(fields))
    except OSError as error:
        raise PreconditionNotMet(f"{node} doesn't answer request {code}: {error}", about=(node,)) from error
