"""The table of a SASL connection on a SASL listener of the reference broker: every cell, twice."""

from __future__ import annotations

from itertools import islice

import pytest

from touchstone.fuzz.machines import MACHINES
from touchstone.fuzz.machines.sasl import PASSWORD, USER
from touchstone.fuzz.machines.walked_scripts import WalkedScripts
from touchstone.fuzz.sequences.judge import as_expected
from touchstone.fuzz.sequences.player import Player
from touchstone.harness.model import advertised
from touchstone.reference_impl.io.server import serve

LISTENER = "SASL_PLAINTEXT"
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SETTINGS = {
    "listeners": f"PLAINTEXT://127.0.0.1:0,{LISTENER}://127.0.0.1:0",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        f'{MODULE} required user_{USER}="{PASSWORD}";'
    ),
    "connection.failed.authentication.delay.ms": "0",
}


@pytest.mark.slow
@pytest.mark.parametrize("release", ["1.0", "2.8", "4.3"])
def test_the_broker_answers_as_the_table_does(release):
    with serve(release=release, config=SETTINGS) as running:
        host, _, port = running.listeners[LISTENER][0].rpartition(":")
        player = Player(host, int(port))
        ranges = advertised.table(release)
        walks = WalkedScripts([MACHINES["sasl"]], ranges, release, "sasl-", LISTENER)
        count = 2 * len(walks.cells()["sasl"])
        cases = islice(walks.walked(1, {}, (0, 0)), count)
        wrong = [each for _, one in cases if (each := as_expected(player.play(one.script)))]
    assert wrong == []
    assert count > 20
