"""Faults of the network between two plain containers: each takes effect, says how it knows, and is gone after."""

from __future__ import annotations

import functools
import re
import secrets
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from rocketchaos.harness.containers import netem
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.delay_support import choose_mechanism
from rocketchaos.harness.containers.images import Images
from rocketchaos.harness.containers.labels import OWNER_LABEL, labels_of
from rocketchaos.harness.containers.launch import ContainerPlan, Subnet, make_network, start
from rocketchaos.harness.containers.netem import Netem
from rocketchaos.harness.containers.network_place import NetworkPlace
from rocketchaos.harness.containers.sidecar import Sidecars
from rocketchaos.harness.containers.toxiproxy import Toxiproxy
from rocketchaos.harness.core.errors import EnvironmentNotReady, PreconditionNotMet
from rocketchaos.harness.faults.base import Fault
from rocketchaos.harness.faults.delay import Delay
from rocketchaos.harness.faults.loss import Loss
from rocketchaos.harness.faults.partition import Partition
from rocketchaos.harness.faults.reset import Reset
from rocketchaos.harness.faults.rules import Link, counts
from rocketchaos.harness.faults.sidecar_trials import Trials

pytestmark = pytest.mark.containers

PORT = 8000
SERVER = ["python3", "-m", "http.server", str(PORT)]
REQUEST = b"HEAD / HTTP/1.0\r\n\r\n"


@dataclass
class Net:
    """A network of a test's own; nothing of it is left after the test."""

    engine: Engine
    image: str
    owner: str = field(default_factory=lambda: f"rocketchaos-test-{secrets.token_hex(6)}")

    def __post_init__(self) -> None:
        self.subnet: Subnet = make_network(self.engine, self.owner, labels_of(self.owner, "network", "r1"))
        self.sidecars = Sidecars(self.engine, lambda: self.image, self.owner, "r1")

    def place(self, name: str, index: int, command: list[str] = SERVER) -> NetworkPlace:
        """A container that serves, seen to be up."""
        plan = ContainerPlan(
            image=self.image,
            name=f"{self.owner}-{name}",
            labels=labels_of(self.owner, "worker", "r1"),
            entrypoint=command,
            subnet=self.subnet,
            address=self.subnet.address(index),
        )
        container = str(start(self.engine, plan).id)
        advertised = f"{self.subnet.address(index)}:{PORT}"
        if command is SERVER:
            await_listening(self.subnet.address(index))
        return self.sidecars.place(name, container, advertised)

    def containers(self) -> list[str]:
        """The names of all containers of the test."""
        found = self.engine.client.containers.list(all=True, filters={"label": f"{OWNER_LABEL}={self.owner}"})
        return [str(item.name) for item in found]

    def rules(self, place: NetworkPlace) -> str:
        """All rules in a container's network."""
        return self.sidecars.of(place).iptables(("-S",))

    def remove(self) -> None:
        for item in self.engine.client.containers.list(
            all=True, filters={"label": f"{OWNER_LABEL}={self.owner}"}
        ):
            item.remove(force=True)
        self.subnet.network.remove()


@retry(stop=stop_after_delay(20), wait=wait_fixed(0.05), retry=retry_if_exception_type(OSError), reraise=True)
def await_listening(address: str) -> None:
    socket.create_connection((address, PORT), 1.0).close()


@pytest.fixture
def net(engine: Engine, worker_image: str) -> Iterator[Net]:
    made = Net(engine, worker_image)
    try:
        yield made
    finally:
        made.sidecars.close()
        made.remove()


Make = Callable[[Link, Sidecars, str], Fault]
KINDS: dict[str, Make] = {
    "partition": Partition,
    "reset": Reset,
    "loss": functools.partial(Loss, percent=30),
}


def connects(net: Net, own: NetworkPlace, peer: NetworkPlace) -> str:
    return Trials(net.sidecars.of(own)).connect(peer.addresses[0], PORT, 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_takes_effect_and_heals_without_a_trace(net: Net, kind: str) -> None:
    b, broker, other = net.place("b", 20), net.place("broker-a", 3), net.place("broker-b", 4)
    clean = net.rules(b)
    fault = KINDS[kind](Link(b, broker), net.sidecars, "b and broker-a")
    fault.inject()
    proof = fault.wait_effective()
    assert {"partition": "packets dropped", "reset": "is refused", "loss": "packets dropped"}[kind] in proof
    assert "ROCKETCHAOS-" in net.rules(b)
    assert "ROCKETCHAOS-" not in net.rules(broker)
    assert connects(net, b, other) == "connected", "nobody else is concerned"
    fault.heal()
    assert "reaches" in fault.wait_healed()
    assert net.rules(b) == clean
    fault.heal()
    fault.cleanup()


UDP = ("-p", "udp", "--dport", "9")
SEND = "import socket, sys; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', (sys.argv[1], 9))"


def counted(net: Net, place: NetworkPlace) -> int:
    (count,) = counts(net.sidecars.of(place).iptables(("-nvxL", "SEEN")))
    return count


@pytest.mark.parametrize(("outgoing", "arrives"), [(True, False), (False, True)])
def test_a_one_way_partition_lets_the_other_way_pass(net: Net, outgoing: bool, arrives: bool) -> None:
    def gets(receiver: NetworkPlace, sender: NetworkPlace) -> bool:
        """Whether a packet passes, counted behind all rules of the receiver."""
        before = counted(net, receiver)
        # A packet that is dropped on its way out is refused to its sender.
        net.sidecars.of(sender).run("python3", "-c", SEND, receiver.addresses[0])
        return counted(net, receiver) > before

    b, broker = net.place("b", 20), net.place("broker-a", 3)
    fault = Partition(Link(b, broker, outgoing=outgoing, incoming=not outgoing), net.sidecars, "one way")
    fault.inject()
    fault.wait_effective()
    for place in (b, broker):
        net.sidecars.of(place).iptables(("-N", "SEEN"), ("-A", "SEEN", *UDP), ("-A", "INPUT", "-j", "SEEN"))
    assert gets(broker, b) is arrives
    assert gets(b, broker) is not arrives
    fault.heal()
    fault.wait_healed()
    assert gets(broker, b)


def test_an_open_connection_ends_by_a_reset_and_outlives_a_short_partition(net: Net) -> None:
    client = (
        "import socket, sys, time\n"
        f"one = socket.create_connection((sys.argv[1], {PORT}))\n"
        "one.sendall(b'HEAD / HTTP/1.1\\r\\nHost: x')\nprint('open', flush=True)\n"
        "while not __import__('os').path.exists('/tmp/go'): time.sleep(0.02)\n"
        "one.settimeout(20)\n"
        "try:\n    one.sendall(b'\\r\\n\\r\\n')\n    print('answered' if one.recv(9) else 'closed')\n"
        "except OSError as error:\n    print(type(error).__name__)\n"
    )
    b, broker = net.place("b", 20), net.place("broker-a", 3)
    sidecar = net.sidecars.of(b)

    def ends(fault: Fault, heal_before_the_end: bool) -> str:
        sidecar.run("rm", "-f", "/tmp/go", "/tmp/said")
        sidecar.run("sh", "-c", f'python3 -c "{client}" {broker.addresses[0]} > /tmp/said &')
        sidecar.run("sh", "-c", "while ! grep -q open /tmp/said; do sleep 0.02; done")
        fault.inject()
        fault.wait_effective()
        sidecar.run("touch", "/tmp/go")
        if heal_before_the_end:
            sidecar.run("sleep", "1")
            fault.heal()
            fault.wait_healed()
        sidecar.run("sh", "-c", "while [ $(wc -l < /tmp/said) -lt 2 ]; do sleep 0.02; done")
        fault.heal()
        return sidecar.run("tail", "-n1", "/tmp/said").output

    assert ends(Reset(Link(b, broker), net.sidecars, "x"), False) == "ConnectionResetError"
    assert ends(Partition(Link(b, broker), net.sidecars, "x"), True) == "answered"


def test_loss_in_one_direction_is_counted_there(net: Net) -> None:
    b, broker = net.place("b", 20), net.place("broker-a", 3)
    fault = Loss(Link(b, broker, outgoing=False), net.sidecars, "broker-a to b", 10)
    fault.inject()
    proof = fault.wait_effective()
    assert proof.startswith("broker-a to b: ")
    assert ";" not in proof
    fault.heal()
    assert "100 of 100 connections" in fault.wait_healed()


def test_a_fault_that_has_no_effect_is_not_believed(net: Net) -> None:
    b, broker = net.place("b", 20), net.place("broker-a", 3)
    fault = Partition(Link(b, broker), net.sidecars, "b and broker-a")
    fault.inject()
    chain = re.findall(r"-N (ROCKETCHAOS-\d+)", net.rules(b))[0]
    net.sidecars.of(b).iptables(("-F", chain))
    with pytest.raises(PreconditionNotMet, match="must end with `no answer`, and ended with `connected`"):
        fault.wait_effective()
    fault.heal()
    nobody = net.place("nobody", 5, ["sleep", "infinity"])
    unreachable = Partition(Link(b, nobody), net.sidecars, "b and nobody")
    with pytest.raises(PreconditionNotMet, match="doesn't reach nobody even without it: refused"):
        unreachable.inject()


def test_a_restart_loses_the_fault_and_healing_says_so(net: Net) -> None:
    b, broker = net.place("b", 20), net.place("broker-a", 3)
    fault = Partition(Link(b, broker), net.sidecars, "b and broker-a")
    fault.inject()
    fault.wait_effective()
    net.engine.client.containers.get(b.container).restart(timeout=0)
    await_listening(b.addresses[0])
    with pytest.raises(PreconditionNotMet, match="b was restarted meanwhile"):
        fault.heal()
    again = Partition(Link(b, broker), net.sidecars, "b and broker-a")
    again.inject()
    assert "dropped" in again.wait_effective(), "the sidecar is in the new network"
    net.engine.client.containers.get(b.container).remove(force=True)
    again.heal()
    assert again.wait_healed() == "the rules are gone; b doesn't run"


def test_rules_of_others_stay(net: Net) -> None:
    b, broker, other = net.place("b", 20), net.place("broker-a", 3), net.place("broker-b", 4)
    net.sidecars.of(b).iptables(("-A", "OUTPUT", "-d", "203.0.113.9", "-j", "DROP"))
    before = net.rules(b)
    first = Partition(Link(b, broker, incoming=False), net.sidecars, "b to broker-a")
    first.inject()
    with_one = net.rules(b)
    second = Loss(Link(b, other), net.sidecars, "b and broker-b", 50)
    second.inject()
    second.heal()
    assert net.rules(b) == with_one
    first.wait_effective()
    first.heal()
    assert net.rules(b) == before


def test_sidecars_are_labelled_kept_and_removed(net: Net) -> None:
    b = net.place("b", 20)
    first = net.sidecars.of(b)
    assert net.sidecars.of(b) is first
    (name,) = (container for container in net.containers() if "sidecar" in container)
    labels = net.engine.client.containers.get(name).labels
    assert (labels["rocketchaos.role"], labels[OWNER_LABEL]) == ("sidecar", net.owner)
    net.sidecars.close()
    net.sidecars.close()
    assert not [container for container in net.containers() if "sidecar" in container]


@pytest.fixture
def toxiproxy_image(engine: Engine) -> str:
    try:
        return Images(engine, print).toxiproxy().name
    except EnvironmentNotReady as refusal:
        pytest.skip(refusal.message)


def test_toxiproxy_delays_answers_and_stops_doing_so(net: Net, toxiproxy_image: str) -> None:
    nameserver, broker = net.place("nameserver", 2), net.place("broker-a", 9)
    proxy = Toxiproxy(
        net.engine,
        toxiproxy_image,
        f"{net.owner}-toxiproxy",
        labels_of(net.owner, "toxiproxy", "r1"),
        subnet=net.subnet,
        address=net.subnet.address(3),
        behind=broker.addresses[0],
        ports=(PORT,),
    )
    proxy.start()
    trials = Trials(net.sidecars.of(nameserver))
    address = f"{net.subnet.address(3)}:{PORT}"
    fault = Delay("broker-a", proxy, trials, address, 200, 50, request=REQUEST)
    for _ in range(2):
        fault.inject()
        assert "instead of" in fault.wait_effective()
        assert all(150 <= took < 450 for took in trials.echo_ms(proxy.address, PORT, REQUEST, 5))
        direct = trials.echo_ms(broker.addresses[0], PORT, REQUEST, 5)
        assert max(direct) < 100, "only the advertised address is slow"
        fault.heal()
        fault.heal()
        fault.wait_healed()
    proxy.clear()
    with pytest.raises(PreconditionNotMet, match="in spite of it"):
        Delay("broker-a", proxy, trials, address, 200, 50, request=REQUEST).wait_effective()
    proxy.remove()
    proxy.remove()


def test_netem_delays_where_the_kernel_has_it(net: Net) -> None:
    lacks = netem.why_not(net.engine, lambda: net.image, net.owner, "r1")
    assert not [container for container in net.containers() if "netem" in container]
    nameserver, broker = net.place("nameserver", 2), net.place("broker-a", 3)
    line = Netem(net.sidecars, lambda: broker)
    if lacks:
        with pytest.raises(EnvironmentNotReady, match="sch_netem"):
            line.set(200, 50)
        line.clear()
        pytest.skip(f"this kernel has no netem: {lacks}")
    address = f"{broker.addresses[0]}:{PORT}"
    fault = Delay("broker-a", line, Trials(net.sidecars.of(nameserver)), address, 200, 50, request=REQUEST)
    fault.inject()
    fault.wait_effective()
    fault.heal()
    fault.wait_healed()


def test_without_netem_and_toxiproxy_a_delay_is_refused_with_both_reasons(
    net: Net, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = Images(net.engine, print)
    monkeypatch.setitem(netem._known, net.engine.base_url, "Specified qdisc kind is unknown")

    def missing() -> None:
        raise EnvironmentNotReady("no image of Toxiproxy")

    monkeypatch.setattr(images, "toxiproxy", missing)
    with pytest.raises(EnvironmentNotReady, match=r"no netem \(Specified.*\); no image of Toxiproxy"):
        choose_mechanism(net.engine, images, net.owner, "r1")
