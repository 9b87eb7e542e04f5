"""Which worker has which address."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest

from rocketchaos.harness.containers.launch import Subnet
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.workers.addresses import FIRST, Addresses

ANY: Any = None
COUNT = 63 - FIRST


def addresses() -> Addresses:
    return Addresses(Subnet(ANY, ipaddress.IPv4Network("198.18.7.64/26")))


def test_each_worker_has_its_own_beyond_those_of_servers_and_none_is_the_broadcasts() -> None:
    pool = addresses()
    taken = [pool.take() for _ in range(COUNT)]
    assert (taken[0], taken[-1]) == (f"198.18.7.{64 + FIRST}", "198.18.7.126")
    assert len(set(taken)) == COUNT
    with pytest.raises(EnvironmentNotReady, match=rf"all {COUNT} addresses .* 198\.18\.7\.64/26") as raised:
        pool.take()
    assert "--parallel" in raised.value.hint


def test_one_that_is_given_back_comes_round_as_late_as_can_be() -> None:
    pool = addresses()
    first = pool.take()
    pool.give_back(first)
    assert [pool.take() for _ in range(COUNT)].index(first) == COUNT - 1
