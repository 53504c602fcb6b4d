"""A machine is not walked on a broker that lists its APIs and refuses them."""

from __future__ import annotations

import pytest

from touchstone.fuzz.machines import consumer_group, share_group
from touchstone.fuzz.machines.spoken import spoken
from touchstone.fuzz.machines.walked_scripts import WalkedScripts
from touchstone.fuzz.runner import Link
from touchstone.reference_impl.io.server import serve

BOTH = (consumer_group.MACHINE, share_group.MACHINE)


@pytest.mark.parametrize(
    ("release", "there"), [("3.9", []), ("4.3", ["consumer_group", "share_group"])]
)
def test_a_machine_is_there_where_its_protocol_is_spoken(release, there):
    with serve(brokers=1, release=release) as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")
        with Link(host, int(port)) as link:
            listed = link.ask(18, 0, {})
            assert listed
            ranges = {
                row["api_key"]: (row["min_version"], row["max_version"])
                for row in listed["api_keys"]
            }
            walks = WalkedScripts(BOTH, spoken(ranges, link.ask), release)
    assert 69 in ranges and [machine.name for machine in walks.there()] == there


def test_who_does_not_answer_is_walked_on():
    ranges = {69: (0, 1), 3: (0, 13)}
    assert spoken(ranges, lambda *asked: None) == ranges
