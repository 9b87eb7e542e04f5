"""The topics and groups that a run creates before its clients start."""

from rocketchaos.harness.cluster.groups import create_group
from rocketchaos.harness.cluster.topics import create_routed_topic
from rocketchaos.harness.core.events.run import TopicCreated
from rocketchaos.harness.core.events.servers import GroupConfigured
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.language.topic import NamedGroup


def create_topics(context: RunContext) -> None:
    """Create those that the scenario declares, except what a sending creates."""
    for topic, spec in context.scenario.topics.items():
        if not spec.by_sending:
            _create(context, topic)


def _create(context: RunContext, topic: str) -> None:
    scenario = context.scenario
    real, spec, brokers = context.names.real(topic), scenario.topic(topic), scenario.brokers_of(topic)
    addresses = {name: context.servers.broker_addresses[name] for name in brokers}
    own_perm = scenario.cluster.leaves_permissions
    create_routed_topic(context.admin, real, spec.configuration, addresses, own_perm=own_perm)
    created = TopicCreated(
        topic=topic, real=real, queues=spec.queues, brokers=tuple(brokers), settings=spec.settings
    )
    context.history.append("harness", created)


def create_groups(context: RunContext) -> None:
    """Create each group that the proxy needs, that has settings of its own, or that is declared where brokers
    create none by themselves. The same holds for its topics."""
    scenario, addresses = context.scenario, context.servers.broker_addresses
    by_itself = all(
        scenario.cluster.lines_of(broker).get("autoCreateSubscriptionGroup", "true").lower() == "true"
        for broker in scenario.cluster.brokers
    )
    for group in scenario.groups:
        spec = scenario.bare_groups.get(group, NamedGroup())
        by_proxy = any(scenario.consumers[member].needs_proxy for member in scenario.members(group))
        if by_proxy or spec.settings or (spec.is_declared and not by_itself):
            create_group(context.admin, context.names.real(group), addresses.values(), spec.settings)
        if spec.settings:
            shown = GroupConfigured(group=group, settings=spec.settings, brokers=tuple(addresses))
            context.history.append("harness", shown)
        for prefix, _ in spec.topics:
            _create(context, f"{prefix}{group}")
