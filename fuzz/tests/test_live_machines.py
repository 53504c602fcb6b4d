"""The tables on real Kafka, a few cells of each machine; whole campaigns are `touchstone fuzz`."""

from __future__ import annotations

from itertools import islice

import pytest

from touchstone.fuzz.corpus_run import create_topics, serves_groups, wait_until
from touchstone.fuzz.generator import TOPICS
from touchstone.fuzz.machines import MACHINES
from touchstone.fuzz.machines.walked_scripts import WalkedScripts
from touchstone.fuzz.runner import Link
from touchstone.fuzz.sequences.judge import as_expected
from touchstone.fuzz.sequences.player import Player
from touchstone.fuzz.targets import SMALL_CLUSTER
from touchstone.harness.model import advertised
from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse

pytestmark = [pytest.mark.live, pytest.mark.java, pytest.mark.maven, pytest.mark.slow]
EACH = 12


@pytest.mark.parametrize("release", ["1.0", "4.3"])
def test_real_kafka_answers_as_the_tables_do(release):
    target = parse(f"kafka@{release}")
    reason = target.available()
    if reason:
        pytest.skip(f"not run: {reason}")
    address = target.start(Shape(config=SMALL_CLUSTER)).bootstrap[0]
    try:
        with Link(*address) as link:
            create_topics(link, dict.fromkeys(TOPICS, False))
            wait_until(lambda: serves_groups(link), "no group coordinator", link)
        player = Player(*address)
        walks = WalkedScripts(
            list(MACHINES.values()), advertised.table(release), release, f"{player.nonce()}-"
        )
        cases = islice(walks.walked(1, {}, (0, 0)), EACH * len(walks.there()))
        assert [wrong for _, one in cases if (wrong := as_expected(player.play(one.script)))] == []
    finally:
        target.stop()
