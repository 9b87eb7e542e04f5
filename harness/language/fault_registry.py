"""Every fault: steps, nights, tables, reports and documentation come from here. A new one is registered here, and
is in the file of `harness.faults` that has its word as the name."""

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import Field

from rocketchaos.harness.language.fault_kind import (
    BROKER,
    CONSUMER,
    DISK,
    NAME_SERVER,
    NETWORK,
    PRODUCER,
    Drawn,
    Ending,
    FaultKind,
    Process,
    ProcessFaultKind,
    Shown,
)
from rocketchaos.harness.language.words import DurationMs

MAY_BE_REFUSED = "may_be_refused"
"""The option of `restart` by which a server may end as it starts."""
KILL = ProcessFaultKind(
    word="kill",
    doc="""\
SIGKILL the processes of clients or of nodes: nothing is persisted or sent; the kernel closes the sockets.

`start` or `restart` brings a killed consumer back; `restart` brings back a killed node, with what its store has,
and the producer. The message that the producer was sending may be stored or not. Until it is back nothing can be
sent, so a `send` in another branch of a `parallel` needs `may_fail`.""",
    example="kill: b",
    targets="which processes to kill, in this order: consumers, nodes, the `producer`",
    before=("running", "paused", "stalled"),
    after="killed",
    capability="kill",
    process=Process.KILLED,
    undone_by=("start", "restart"),
    takes_s=0.4,
    shown=(
        Shown("SIGKILL of a consumer", CONSUMER, "kill: a", ("kill",)),
        Shown("SIGKILL of the producer", PRODUCER, "kill: producer", ("kill-producer",)),
        Shown("SIGKILL of a broker", BROKER, "kill: broker-a", ("kill-broker",)),
        Shown("SIGKILL of the name server", NAME_SERVER, "kill: nameserver", ("kill-nameserver",)),
    ),
    drawn=(
        Drawn("kill", CONSUMER, "a member's process is killed", "is killed", weight=4.0),
        Drawn(
            "kill-broker",
            BROKER,
            "a broker is killed, and started again with what its store has",
            "is killed",
            back="restart",
            weight=0.35,
            lasts_ms=(0, 3000),
        ),
        Drawn(
            "kill-nameserver",
            NAME_SERVER,
            "the name server is killed, and started again; routes come back with the brokers' registrations",
            "is killed",
            back="restart",
            weight=0.35,
            lasts_ms=(0, 3000),
        ),
        Drawn(
            "kill-producer",
            PRODUCER,
            "the producer's process is killed, and another one starts",
            "is killed",
            back="restart",
            weight=1.0,
        ),
    ),
)
TERMINATE = ProcessFaultKind(
    word="terminate",
    doc="""\
SIGTERM the processes of clients: each shuts its client down and ends, as with a shutdown hook.

A consumer persists its offsets and tells the broker (code 35); it doesn't wait for a listener that blocks or is
slow. `start` or `restart` brings it back, `restart` the producer. The message that the producer was sending may
be stored or not. Until it is back nothing can be sent, so a `send` in another branch of a `parallel` needs
`may_fail`. For servers use `stop`, which is SIGTERM there.""",
    example="terminate: b",
    targets="which processes to terminate, in this order: consumers, the `producer`; for nodes there is `stop`",
    before=("running",),
    after="stopped",
    instead="a server gets its SIGTERM by `stop`: write `stop: {target}`",
    process=Process.LEFT,
    undone_by=("start", "restart"),
    active_before_announced=True,
    shown=(
        Shown("SIGTERM of a consumer", CONSUMER, "terminate: a", ("terminate",)),
        Shown("SIGTERM of the producer", PRODUCER, "terminate: producer", ("terminate-producer",)),
    ),
    drawn=(
        Drawn(
            "terminate",
            CONSUMER,
            "a member's process gets SIGTERM, shuts its client down, and ends",
            "gets SIGTERM",
        ),
        Drawn(
            "terminate-producer",
            PRODUCER,
            "the producer's process gets SIGTERM, shuts its client down, and another one starts",
            "gets SIGTERM",
            back="restart",
            weight=1.0,
        ),
    ),
)
STOP = ProcessFaultKind(
    word="stop",
    doc="""\
Shut consumers or nodes down gracefully.

A consumer persists its offsets and tells the broker (code 35). A node stores what it has, as RocketMQ does on
SIGTERM; `restart` brings it back.""",
    example="stop: b",
    targets="the consumers and nodes to stop, in this order: `b`, `broker-a`, `nameserver`",
    before=("running",),
    after="stopped",
    capability="stop",
    of_producer=False,
    acts_on_process=False,
    consumers_tell=True,
    process=Process.LEFT,
    undone_by=("start", "restart"),
    active_before_announced=True,
    shown=(
        Shown("SIGTERM of a broker", BROKER, "stop: broker-a", ("stop-broker",)),
        Shown("SIGTERM of the name server", NAME_SERVER, "stop: nameserver", ("stop-nameserver",)),
    ),
    drawn=(
        Drawn("stop", CONSUMER, "a member shuts down", "shuts down", own_process=False),
        Drawn(
            "stop-broker",
            BROKER,
            "a broker shuts down, stays away, and is started again",
            "shuts down",
            back="restart",
            weight=0.35,
            lasts_ms=(500, 3000),
        ),
        Drawn(
            "stop-nameserver",
            NAME_SERVER,
            "the name server shuts down, stays away, and is started again",
            "shuts down",
            back="restart",
            weight=0.35,
            lasts_ms=(500, 3000),
        ),
    ),
)
RESTART = ProcessFaultKind(
    word="restart",
    doc="""\
Start clients or nodes again, each in a new process; those that still run are shut down gracefully first.

Consumers start as declared: changes that steps made to subscriptions and behaviour are gone. Nodes keep
store, port and address; the step is over once a broker is registered and answers, or once a name server
answers and every running broker has registered again by its own timer (30 s in RocketMQ, 10 s compressed).
With `may_be_refused` a server that ends as it starts, as by a store that its settings don't fit, is
recorded, and the run continues without it; the check `log` reads why: `log: {node: broker-a, …}`.""",
    example="restart: [a, b]",
    targets="what to restart, in this order: consumers, nodes, the `producer`",
    before=("running", "stopped", "killed"),
    after="running",
    capability="restart",
    consumers_tell=True,
    active_before_announced=True,
    options={
        MAY_BE_REFUSED: (
            bool,
            Field(
                default=False,
                description="of servers: one that ends as it starts is recorded, and the run continues without it",
            ),
        ),
    },
    # A name server is back once the brokers have registered with it again, every 10 s.
    takes_s=12.0,
    shown=(
        Shown(
            "restart of the producer",
            PRODUCER,
            "restart: producer",
            ("kill-producer", "terminate-producer"),
        ),
        Shown("restart of a broker", BROKER, "restart: broker-a", ("restart-broker",)),
        Shown("restart of the name server", NAME_SERVER, "restart: nameserver", ("restart-nameserver",)),
    ),
    drawn=(
        Drawn(
            "restart-broker",
            BROKER,
            "a broker shuts down, and is started again at once",
            "is restarted",
            weight=0.35,
        ),
        Drawn(
            "restart-nameserver",
            NAME_SERVER,
            "the name server shuts down, and is started again at once",
            "is restarted",
            weight=0.35,
        ),
    ),
)
RESUME = Ending(
    word="resume",
    title="a paused or stalled process goes on",
    doc="Let the processes of paused or stalled clients or nodes continue (SIGCONT).",
    example="resume: b",
    targets="what to resume, in this order: consumers, nodes, the `producer`",
)
PAUSE = ProcessFaultKind(
    word="pause",
    doc="""\
SIGSTOP the processes of clients or of nodes: connections stay open, and nothing moves.

A paused consumer sends no heartbeats and no pulls; a paused node answers no requests. A paused producer
continues its sending when it is resumed; a message without an answer after 8 s counts as not acknowledged.""",
    example="pause: broker-a",
    targets="what to pause, in this order: consumers, nodes, the `producer`",
    before=("running",),
    after="paused",
    capability="pause",
    process=Process.STANDS,
    undone_by=("resume",),
    ending=RESUME,
    takes_s=0.4,
    shown=(
        Shown("SIGSTOP and SIGCONT of a consumer", CONSUMER, "pause: a", ("pause",)),
        Shown("SIGSTOP and SIGCONT of the producer", PRODUCER, "pause: producer", ("pause-producer",)),
        Shown("SIGSTOP and SIGCONT of a broker", BROKER, "pause: broker-a", ("pause-broker",)),
        Shown(
            "SIGSTOP and SIGCONT of the name server", NAME_SERVER, "pause: nameserver", ("pause-nameserver",)
        ),
    ),
    drawn=(
        Drawn(
            "pause",
            CONSUMER,
            "a member's process stands still, and goes on",
            "stands still",
            back="resume",
            lasts_ms=(500, 5000),
            because="how long it stands still",
        ),
        Drawn(
            "pause-broker",
            BROKER,
            "a broker stands still, and goes on",
            "stands still",
            back="resume",
            weight=0.35,
            lasts_ms=(500, 4000),
            because="how long it stands still",
        ),
        Drawn(
            "pause-nameserver",
            NAME_SERVER,
            "the name server stands still, and goes on",
            "stands still",
            back="resume",
            weight=0.35,
            lasts_ms=(500, 4000),
            because="how long it stands still",
        ),
        Drawn(
            "pause-producer",
            PRODUCER,
            "the producer's process stands still, and goes on",
            "stands still",
            back="resume",
            weight=1.0,
        ),
    ),
)
STALL = ProcessFaultKind(
    word="stall",
    doc="""\
Starve the processes of clients or of nodes: SIGSTOP and SIGCONT in turn, so that each runs only part of the time.

The timers of the process continue, and each answer waits until the process runs again, as on an overloaded
machine. It lasts until `resume`, or until the process is killed. The harness's own questions to the process
take longer too. Only processes of this host can be stalled: clients without `workers: containers`, servers of
a cluster of kind `embedded`.""",
    example="stall: {targets: broker-a, stopped: 80ms, running: 20ms}",
    targets="what to stall, in this order: consumers, nodes, the `producer`",
    before=("running",),
    after="stalled",
    capability="stall",
    on_processes_of_this_host=True,
    undone_by=("resume",),
    ending=RESUME,
    takes_s=1.5,
    options={
        "stopped": (
            DurationMs,
            Field(default=80, ge=20, le=2_000, description="how long it stands still each time"),
        ),
        "running": (
            DurationMs,
            Field(default=20, ge=5, le=2_000, description="how long it runs in between"),
        ),
    },
    shown=(
        Shown("a consumer starved of CPU", CONSUMER, "stall: a", ("stall",)),
        Shown("the producer starved of CPU", PRODUCER, "stall: producer"),
        Shown("a broker starved of CPU", BROKER, "stall: broker-a", ("stall-broker",)),
        Shown("the name server starved of CPU", NAME_SERVER, "stall: nameserver"),
    ),
    drawn=(
        Drawn(
            "stall",
            CONSUMER,
            "a member's process is starved of CPU for a while",
            "is starved",
            back="resume",
            weight=0.0,
            lasts_ms=(500, 5000),
            because="how long it is starved",
        ),
        Drawn(
            "stall-broker",
            BROKER,
            "a broker is starved of CPU for a while",
            "is starved",
            back="resume",
            weight=0.0,
            lasts_ms=(500, 4000),
            because="how long it is starved",
        ),
    ),
)
FILL_DISK = FaultKind(
    word="fill-disk",
    undone_by=("free-disk",),
    active_before_announced=True,
    shown=(Shown("a full disk of a broker (4.9.x)", DISK, "fill-disk: broker-a", ("fill-disk",)),),
    drawn=(
        Drawn(
            "fill-disk",
            DISK,
            "a broker refuses messages, as with a full disk, and takes them again; 4.9.x alone",
            "has a full disk",
            back="free-disk",
            weight=0.35,
            lasts_ms=(0, 3000),
            because="how long its disk is full",
        ),
    ),
)
UPGRADE = FaultKind(
    word="upgrade",
    active_before_announced=True,
    shown=(Shown("another version of a broker", BROKER, "upgrade: {broker: broker-a, to: 5.5.0}"),),
)
_OF_THE_NETWORK = {
    "partition": ("a partition of the network", "partition: {between: a, and: broker-a}"),
    "loss": ("lost packets", "loss: {from: broker-a, to: a, percent: 30}"),
    "reset": ("reset connections", "reset: {between: a, and: broker-a}"),
    "delay": ("a slow broker", "delay: {of: broker-a, by: 200ms}"),
}
_ALL: tuple[FaultKind, ...] = (
    KILL,
    TERMINATE,
    STOP,
    RESTART,
    PAUSE,
    STALL,
    FILL_DISK,
    UPGRADE,
    *(
        FaultKind(word=word, undone_by=("heal",), shown=(Shown(what, NETWORK, step, (word,)),))
        for word, (what, step) in _OF_THE_NETWORK.items()
    ),
)

FAULT_KINDS: Mapping[str, FaultKind] = MappingProxyType({kind.word: kind for kind in _ALL})
"""By word."""
PROCESS_FAULTS: Mapping[str, ProcessFaultKind] = MappingProxyType(
    {kind.word: kind for kind in _ALL if isinstance(kind, ProcessFaultKind)}
)
"""Those of processes, whose steps are made from what stands here."""
ENDINGS: Mapping[str, Ending] = MappingProxyType(
    {kind.ending.word: kind.ending for kind in PROCESS_FAULTS.values() if kind.ending is not None}
)
"""The steps that end some of them."""
NETWORK_FAULTS = tuple(_OF_THE_NETWORK)
"""Those of the network, which `heal` ends."""
