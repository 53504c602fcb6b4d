"""A leader that really moves: steps that give a partition of two replicas another leader.

The preferred replica becomes another one by a reassignment that changes only their order, and is
elected (KIP-455, KIP-460). Nobody is harmed and nothing is waited for but the election.
"""

from collections.abc import Sequence
from typing import Any

from touchstone.suites.kit.controllers import elect, reassign
from touchstone.suites.kit.three_brokers import until_led

MOVES: dict[str, Any] = {
    "releases": "2.8+",
    "brokers": 3,
    "config": {"auto.leader.rebalance.enable": "false"},
}


def moved(case: Any, topic: Any, row: Sequence[int] = (2, 1)) -> list[Any]:
    """Partition 0 is led by the first broker of `row`, a row of the replicas that it has, and every
    broker knows so.
    """
    return [
        reassign(topic, {0: row}),
        elect(topic, version=1),
        *(until_led(case, topic, row[0], row, f"led at {at}", at=at) for at in (0, 1, 2)),
    ]
