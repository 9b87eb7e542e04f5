"""`docs/diagnose.md`: every check of `rocketchaos diagnose`, from the checks themselves."""

import sys
from collections.abc import Iterator

from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.finding import Check
from rocketchaos.harness.diagnose.requests import READ_ONLY

_BEGIN = """\
# Diagnose a live cluster

Made from the checks by `python -m rocketchaos.harness.reference.diagnose`: don't edit it.

    rocketchaos diagnose --namesrv HOST:9876 --group G

The command asks name servers, brokers and, through the brokers, every member of the group. It reports what is
wrong, with the answers that prove it. It changes nothing in the cluster. These are all the requests that it
sends, at most 100 a second to each address; it asks each member once per look. A member that doesn't answer
is asked again after 10 s at the earliest, by the next command too: several questions at once can stop a client
of 5.2 or later ([finding](findings/running-info-waits-for-itself.md)).

{requests}

A change under way, such as a rebalance, may look like a fault. So the command looks again before it reports
such a finding. It looks for 27 s, or longer in these cases:

- 37 s (67 s on 4.9) if a broker hasn't checked a half message yet;
- 57 s if clients may first have to learn of new queues;
- 77 s if a slave may first have to copy the offsets of groups;
- 87 s if a broker may first have to release the lock of a killed orderly member.

The first look takes 0.3 to 3 s for one group. Its whole answer is printed at once, with what may be a change
under way as undetermined; `-o json` and `-o html` print it to standard error. After the last look comes the last
answer. Ctrl-C ends the wait with the answer so far, and with the exit code 130.
`--within 3s` limits the wait: no look begins after that time.

If a check gets no answer, its result is `undetermined`, never "fine".

| exit code | meaning |
|---|---|
| 0 | no finding at `--threshold` (default: warning) or above |
| 1 | findings, even if something else is undetermined |
| 2 | wrong usage |
| 3 | no such finding, and something is undetermined |
| 4 | no server answers |

`--bundle FILE` writes all questions and answers into a file, with one pseudonym for each address, client id,
group, topic and broker; `FILE.names.json`, which you keep private, has the real names. Tags and subscription
expressions stay as they are; the file has no body of your messages. `rocketchaos diagnose FILE` finds the same
in it. There is one exception: `AllocateMessageQueueConsistentHash` divides queues by hashes of real names, so
findings that depend on it are undetermined.

`--write-scenario FOLDER` writes scenarios that reproduce a finding on your own machine, each with its
control: {scenarios}. Its members are Java, Go, C++ (by way of Python) or gRPC clients as the live ones are;
where a scenario has no such client, a Java client stands for it, and the description names it.

`--read-messages` reads the newest 128 messages of a queue if a finding depends on them, by their place in the
commit log. Where members want SQL92, it judges each message by each expression. Of a message the bundle has its
offset, its tag, the time at which it was stored, and which expressions match it. Without `--read-messages` the
diagnosis knows only the hash of a tag, which the ConsumeQueue keeps, for the newest 32 messages of a queue. Which
messages are lost follows from the subscriptions of now. A message that passed while a broker held another one may
have been delivered; the finding warns of that, unless all were read and stored more than a minute after the newest
subscription.

Members behind a proxy (`--proxy`) answer no request: a proxy doesn't forward 307. A proxy in cluster mode stores
the heartbeats of its members, with each member's own subscriptions, in the topic `DefaultHeartBeatSyncerTopic`
(`HeartbeatSyncer`), and the diagnosis reads the newest of them. A proxy inside a broker (local mode) stores none.
There only a flip shows that gRPC members differ: a broker takes a subscription from their settings alone, which
clients send at their start and every 5 minutes, and not from their heartbeats (`ClientActivity`, 5.0 to 5.5.0).
So `--watch 6m` sees it, unless the members started within 5 s of each other: then what one stores is replaced
before the next look.

`--watch 2m` looks every 5 s and reports changes: of members, subscriptions, owners of queues, offsets, registered
brokers and findings. It takes 25 s to see that a group falls behind.
An offset that somebody sets ahead (RC0509), by 20 messages or more, is found if it happens during the watch,
20 s later at the latest.

With `--metrics 127.0.0.1:9899` a watch serves Prometheus: `rocketchaos_diagnose_finding` is 1 for each finding,
with the labels `code`, `level`, `group` and `topic`; `rocketchaos_diagnose_undetermined` is 1 for each check
without a result. `rocketchaos_diagnose_reachable` is 0 while nobody answers: then both stay as they were at
`rocketchaos_diagnose_last_look_timestamp_seconds`.

## Checks

The level is the usual one: a finding has another where its effect is smaller or greater. Without
`--group`, a finding of a group that has no member is a warning at most.

| code | level | what is wrong |
|---|---|---|
{table}
"""


def diagnose_reference() -> str:
    """The whole page."""
    from rocketchaos.harness.diagnose.reproduction import WRITERS

    table = "\n".join(
        f"| [{check.code}](#{check.code.lower()}) | {check.level} | {check.title} |"
        for check in CHECKS.values()
    )
    asked = "\n".join(f"- {code} {name}" for code, name in sorted(READ_ONLY.items()))
    begin = _BEGIN.format(requests=asked, table=table, scenarios=", ".join(WRITERS))
    return "\n".join([begin, *(line for check in CHECKS.values() for line in _section(check))])


def _section(check: Check) -> Iterator[str]:
    from rocketchaos.harness.diagnose.reproduction import SHOWN_BY

    yield f"### {check.code}"
    yield ""
    yield f"{check.title[0].upper()}{check.title[1:]}; {check.level}."
    yield ""
    yield f"Effect on messages: {check.effect}"
    yield ""
    yield "What to change, in this order:"
    yield ""
    yield from (f"{number}. {text}" for number, text in enumerate(check.change, 1))
    yield ""
    if check.claims:
        yield f"Claims that explain it: {', '.join(check.claims)}."
        yield ""
    if check.code in SHOWN_BY:
        yield f"`rocketchaos reproduce {SHOWN_BY[check.code]}` shows such a state."
        yield ""


if __name__ == "__main__":
    sys.stdout.write(diagnose_reference())
