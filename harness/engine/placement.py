"""Which consumers need a process of their own; pure."""

from rocketchaos.assertions.log import OfOneLog
from rocketchaos.harness.language.words import references
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps.base import Step, every_step
from rocketchaos.harness.steps.settle import Settle
from rocketchaos.harness.steps.start import Start


def own_processes(scenario: Scenario) -> frozenset[str]:
    """The consumers that need a process of their own, and producers that do. These are: consumers that
    declare it, or whose client never shares one (`Consumer.needs_own_process`); those whose process a step acts
    on, because a `kill` would end all in it; those whose log a check reads; those with arguments of a JVM, which
    hold for all in it; and those with another one's client id, because in one process they would be one client
    (`MQClientManager`), as would producers that say their id. A variable may stand for any member of its groups.
    """
    steps = tuple(every_step(scenario.steps))
    asked = {name for name, consumer in scenario.consumers.items() if consumer.needs_own_process}
    asked |= _ids_of_several_processes(scenario)
    asked |= {name for name, producer in scenario.senders.items() if producer.client_id or producer.jvm_args}
    for step in steps:
        # A client that was refused its start leaves threads behind, so that its process is to end.
        if step.acts_on_process or (isinstance(step, Start) and step.may_be_refused):
            for target in step.acts_on():
                asked |= _candidates(scenario, steps, target)
        if isinstance(step, Settle) and step.log is not None:
            asked |= _candidates(scenario, steps, step.log)
    for _, _, check in scenario.checks():
        # In a shared process's log nobody could tell whose a line is that names no group.
        if isinstance(check, OfOneLog) and check.node is None:
            asked |= _candidates(scenario, steps, check.whose)
    return frozenset(asked & {*scenario.consumers, *scenario.senders})


def _ids_of_several_processes(scenario: Scenario) -> set[str]:
    leaders = scenario.leaders
    places: dict[str, set[str]] = {}
    for name, consumer in scenario.consumers.items():
        places.setdefault(consumer.client_id or name, set()).add(leaders.get(name, name))
    return {
        name for name, consumer in scenario.consumers.items() if len(places[consumer.client_id or name]) > 1
    }


def _candidates(scenario: Scenario, steps: tuple[Step, ...], target: str) -> set[str]:
    if not target.startswith("$"):
        return {target}
    groups = {
        reference.text
        for step in steps
        if target[1:] in step.binds()
        for reference in references(step)
        if "group" in reference.kinds
    }
    found = {name for group in groups for name in scenario.members(group)}
    return found or set(scenario.consumers)
