"""What a soak's client is to do, as one line of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from touchstone.harness.checkers.soaks.log_ledger import Place


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """`rate` is records a second of all producers together, `bytes` the size of a record.

    `defects` are planted defects of the client, given to all cores of their kind.
    """

    bootstrap: tuple[str, ...]
    topic: str
    seed: int = 0
    partitions: int = 6
    replication: int = 3
    rate: int = 300
    bytes: int = 100
    producers: int = 3
    protocols: tuple[str, ...] = ("classic", "consumer")  # one group each
    members: int = 2  # of each group
    stay_s: float = 45.0  # for so long, or three times as long, a member stays in its group
    defects: tuple[str, ...] = ()

    @property
    def places(self) -> list[Place]:
        return [(self.topic, index) for index in range(self.partitions)]

    def dump(self) -> str:
        return json.dumps(asdict(self))


def load(text: str) -> SoakPlan:
    row = json.loads(text)
    listed = {name: tuple(row[name]) for name in ("bootstrap", "protocols", "defects")}
    return SoakPlan(**{**row, **listed})
