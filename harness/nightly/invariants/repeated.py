"""`repeated`: a message came again, and no event explains it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rocketchaos.assertions.attempts import attempts, failed, repeats
from rocketchaos.assertions.view import Delivery, RunView, owned_queues
from rocketchaos.harness.core.events.messages import SendAccepted, SendFailed, TransactionChecked
from rocketchaos.harness.core.events.observed import OwnershipObserved
from rocketchaos.harness.nightly.invariants.base import Breach, Judged, some
from rocketchaos.harness.nightly.invariants.causes import moving
from rocketchaos.harness.nightly.invariants.disagreement import OF_OWNERS, disagreement


class Repeated:
    """At-least-once delivery: a message comes twice only if queues changed owners, a server was away, a send
    was not acknowledged, or a transaction was committed more than once.

    A broker stores a half message each time that it gets a commit for it, and asks again until it has noted down
    the one before (`EndTransactionProcessor`; 5.x notes them down every 3 s, `transactionOpBatchInterval`).

    A retry after a failure is no repeat (`assertions.attempts.repeats`). Where a client's sending back was not
    acknowledged in time it sends the retry once more, and there are two of the same reconsumeTimes
    (`DefaultMQPushConsumerImpl.sendMessageBack`, 4.9.4).
    """

    kind = "repeated"
    meaning = (
        "a message was delivered again though nobody came or went, no server was away and nothing failed"
    )
    judges_unsettled = False

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        view = judged.view
        open_ones = {event.body.key for event in view.of_kind(SendFailed)} | _committed_again(view)
        found: dict[tuple[str, str], list[tuple[Delivery, Delivery]]] = {}
        for (audience, key), own in attempts(view, judged.end).items():
            consumers = view.scenario.consumers
            group = consumers[audience].group if audience in consumers else audience
            for again in repeats(own) if key not in open_ones else ():
                if _may_be_sent_back_twice(judged, own, again):
                    continue
                if not moving(view, group, own[0].event, again.event):
                    code = _code(view, group, own[0], again)
                    found.setdefault((group, code), []).append((own[0], again))
        for (group, code), pairs in found.items():
            first, again = pairs[0]
            yield Breach(
                group=group,
                code=code,
                sentence=f"{len(pairs)} messages came to {group} again, as {first.key} to {first.consumer} and "
                f"then to {again.consumer}, and nothing had happened that moves queues",
                events=some([item.event.n for pair in pairs for item in pair]),
                anomaly=({"duplicated": {"to": group, "at_least": 1}},),
                healthy=({"duplicated": {"to": group, "count": 0}},),
            )


def _committed_again(view: RunView) -> set[str | None]:
    """The keys of transactions that were committed more than once."""
    commits: Counter[str | None] = Counter()
    commits.update(event.body.key for event in view.of_kind(SendAccepted) if event.body.how == "commit")
    commits.update(
        event.body.key for event in view.of_kind(TransactionChecked) if event.body.state == "commit"
    )
    return {key for key, count in commits.items() if count > 1}


def _code(view: RunView, group: str, first: Delivery, again: Delivery) -> str:
    """The code of the reason: another owner of the same queue, or no visible reason."""
    both = {first.consumer, again.consumer}
    if len(both) == 1 or not all(_owned(view, name, first, again.event.n) for name in both):
        return "repeated-unmoved"
    differ = disagreement(view, group, first.topic, first.event.n, again.event.n, OF_OWNERS)
    return f"repeated-shared-queue-{differ}"


def _owned(view: RunView, consumer: str, delivery: Delivery, before: int) -> bool:
    """Whether the last look at a member before an event shows that it owns the queue of a delivery."""
    observations = (item for item in view.of_kind(OwnershipObserved) if item.body.consumer == consumer)
    last = max(
        (observation for observation in observations if observation.n < before),
        key=lambda observation: observation.n,
        default=None,
    )
    return last is not None and delivery.queue in owned_queues(last, delivery.topic)


def _may_be_sent_back_twice(judged: Judged, own: Sequence[Delivery], again: Delivery) -> bool:
    """Whether it is a retry of an attempt that failed."""
    return any(
        delivery.reconsume_times == again.reconsume_times - 1 and failed(judged.view, delivery, judged.end)
        for delivery in own
    )
