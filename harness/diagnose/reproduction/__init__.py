"""From a finding to a scenario that does it again on the engineer's own machine, and its control.

Members, subscriptions, queues, strategies and versions are the live group's, scaled down to what runs on one
machine; the numbers of the checks are counted on the scaled group, by the same allocation and filters.
"""

from collections.abc import Callable, Mapping

from rocketchaos.harness.diagnose.finding import Finding
from rocketchaos.harness.diagnose.reproduction import closed, members, progress, queues, subscriptions, ways
from rocketchaos.harness.diagnose.reproduction.control import control
from rocketchaos.harness.diagnose.reproduction.document import Document as Document
from rocketchaos.harness.diagnose.reproduction.scaled import Scaled, scaled
from rocketchaos.harness.diagnose.reproduction.stand_ins import able
from rocketchaos.harness.diagnose.view import GroupView

WRITERS: Mapping[str, Callable[[Scaled], Document | tuple[Document, Document] | str]] = {
    "RC0101": subscriptions.different,
    "RC0102": subscriptions.nobodys,
    "RC0106": subscriptions.different_topics,
    "RC0107": subscriptions.misread,
    "RC0108": subscriptions.unwanted,
    "RC0201": members.same_id,
    "RC0206": members.models,
    "RC0207": members.strategies,
    "RC0211": ways.different,
    "RC0212": members.listeners,
    "RC0214": ways.popping,
    "RC0301": queues.by_configuration,
    "RC0302": queues.by_configuration,
    "RC0303": queues.idle,
    "RC0402": closed.lacking_group,
    "RC0403": queues.unread,
    "RC0404": closed.closed_topic,
    "RC0406": closed.closed_group,
    "RC0407": subscriptions.no_sql,
    "RC0408": queues.removed,
    "RC0501": progress.stopped,
    "RC0503": progress.set_back,
    "RC0505": progress.deleted,
    "RC0506": progress.beyond_the_end,
    "RC0509": progress.set_ahead,
    "RC0601": progress.stuck,
    "RC0602": progress.stuck,
    "RC0701": progress.retries,
    "RC0702": progress.dead_letters,
    "RC0703": progress.no_retries,
    "RC0704": progress.no_retry_queues,
    "RC0705": progress.unread_retry_queues,
}
"""By code: the scenario that does it again, with a control of its own or without, or why there is none."""

_BY_SHARES = frozenset(
    {"RC0101", "RC0102", "RC0106", "RC0201", "RC0206", "RC0207", "RC0212", "RC0303", "RC0501"}
)
"""The numbers of the checks depend on who takes which queue."""

NOT_WRITTEN: Mapping[str, str] = {
    "RC0105": "nothing is lost until a member wants something else: RC0102 has the scenario then",
    "RC0202": "two listeners that want the same lose nothing; where they don't, RC0101 or RC0106 has it",
    "RC0203": "clients of other languages lose nothing by that alone",
    "RC0204": "versions lose nothing by that alone",
    "RC0205": "on brokers as young as those of a scenario a new group begins at 0, whatever it asks for",
    "RC0208": "why somebody doesn't tell can't be seen from outside",
    "RC0209": "a connection that is cut to one broker alone needs containers: write it with `partition:`",
    "RC0210": "there is no member to start",
    "RC0213": "a scenario sets the mode on all brokers: `api: pop`",
    "RC0215": "it is the clock of that machine",
    "RC0216": "which queues an application pulls can't be seen from outside: `api: pull` does it",
    "RC0217": "whether messages overtake one another is a race: `message.type: FIFO` makes such a topic",
    "RC0218": "how many retries a message gets depends on which member takes each of them: `max_reconsume_times:`",
    "RC0401": "a topic that is nowhere has nothing to consume",
    "RC0405": "nothing is lost until that broker fails",
    "RC0409": "name servers of a scenario don't send order configurations (orderMessageEnable)",
    "RC0410": "a step of a scenario deletes a topic on all brokers: `delete-topic:`",
    "RC0504": "how fast a group falls behind is a matter of its machines",
    "RC0507": "nothing is lost",
    "RC0508": "nothing is lost: start a member again with another `subscribe:`",
    "RC0603": "who holds the lock can't be seen from outside",
    "RC0801": "who asks which can't be seen from outside",
    "RC0802": "brokers of a scenario have names of their own",
    "RC0803": "why a broker doesn't tell can't be seen from outside",
    "RC0804": "it is the disk of that machine: `fill-disk:` fills one",
    "RC0805": "it is the clock of that machine",
    "RC0806": "the brokers of a scenario are of one version",
    "RC0807": "why it left can't be seen from outside: `kill:` or `stop:` a broker does it",
    "RC0808": "why it left can't be seen from outside: `kill:` a broker that has a slave does it",
    "RC0809": "why it left can't be seen from outside: `stop:` a slave, `broker-a-slave`, does it",
    "RC0810": "why it lags can't be seen from outside: `pause:` a slave, `broker-a-slave`, does it",
    "RC0811": "the broker's log says why; `broker-config: {set: {timerStopEnqueue: true}}` stops a timer",
    "RC0812": "nothing is lost",
    "RC0813": "write it with `send: {transaction: {state: unknown}}`; `kill: producer` if none is connected",
    "RC0814": "the broker's log has the reason; `broker-config: {set: {reviveInterval: …}}` stops a broker",
    "RC0815": "the slave's log says why",
}
"""By code: why no scenario is written."""

SHOWN_BY: Mapping[str, str] = {
    "RC0105": "version-from-the-future-outlives-its-member",
    "RC0202": "two-listeners-in-one-application",
    "RC0205": "new-group-begins-at-the-end",
    "RC0215": "clock-behind-and-a-new-tag",
    "RC0217": "one-key-consumed-at-the-same-time",
    "RC0401": "no-route-info-of-this-topic",
    "RC0405": "new-topic-on-one-broker",
    "RC0507": "lag-of-tags-that-nobody-wants",
    "RC0801": "known-to-one-name-server-alone",
    "RC0802": "one-broker-name-in-two-clusters",
    "RC0804": "full-disk-refuses-what-is-sent",
    "RC0808": "slave-gives-orderly-nothing",
    "RC0809": "slave-not-available-and-stored",
    "RC0811": "delay-offset-beyond-the-end",
    "RC0813": "transaction-that-nobody-checks",
    "RC0815": "slave-copies-no-offsets",
}
"""By code without a scenario of its own: the shipped scenario that shows what such a state does."""


def written(view: GroupView, finding: Finding) -> tuple[Document, Document] | str:
    """The scenario of a finding and its control; otherwise why there is none."""
    code = finding.check.code
    if code not in WRITERS:
        return why_not(code)
    group = scaled(view, finding)
    if isinstance(group, str):
        return group
    if code in _BY_SHARES and not group.countable:
        return "the ring of AllocateMessageQueueConsistentHash goes by a run's own names: shares can't be foretold"
    document = WRITERS[code](group)
    if isinstance(document, str):
        return document
    document, other = able(
        *(document if isinstance(document, tuple) else (document, control(group, document)))
    )
    return {**document, "control": other["name"]}, other


def why_not(code: str) -> str:
    """Why a code has no scenario, and the shipped one that shows such a state."""
    shown = f"; `rocketchaos reproduce {SHOWN_BY[code]}` shows such a state" if code in SHOWN_BY else ""
    return NOT_WRITTEN[code] + shown
