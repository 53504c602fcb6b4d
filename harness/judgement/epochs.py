"""Leader epochs that Kafka 1.0 and 2.2 leave to chance: those of who stops as a follower.

A broker that stops in order is taken out of the ISRs in which it follows, which is one leader
epoch. It goes on fetching until its replicas end, and a fetch that comes after that brings it back
into the ISR: then the end of its session is a second one. Nothing fences that fetch: 1.0 has no
epochs in it, and 2.2 forgets them in fetch sessions (CachedPartition), which 2.8 does not. Whether
one comes is a matter of milliseconds: of 30 followers that stopped at once on 2.2.1, 9 came back.

So from such a stop on, a partition's epochs that are above all that it had before go by symbols, in
the order in which they are met: that the stop is an epoch, and which of them are equal, stays.
A leader that stops does not fetch from the next one (ReplicaManager.makeFollowers), so its
partitions' epochs are told as they are.

Sources: KafkaController.doControlledShutdown and onBrokerFailure, Partition.maybeExpandIsr,
FetchSession (1.0.2, 2.2.1, 2.8.2); logs of 2.2.1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from touchstone.harness.model.transcript import Transcript

if TYPE_CHECKING:
    from touchstone.harness.judgement.normalize import Reading

RELEASES = ("1.0", "2.2")
REASON = "epochs-of-stopped-followers"
EPOCHS = frozenset({"leader_epoch", "partition_leader_epoch"})
NOBODY = -1  # leads
_BROKER = re.compile(r"broker (\d+)")


@dataclass(slots=True)
class Partition:
    """What is known of one partition at some step."""

    leader: int = NOBODY
    replicas: tuple[int, ...] = ()
    highest: int = 0  # of the epochs that were met before it was free; a new partition's is 0
    free: bool = False
    symbols: dict[int, str] = field(default_factory=dict)

    def learn(self, row: dict[str, Any]) -> None:
        """Who leads and who follows, where the row says so."""
        leader, replicas = row.get("leader_id"), row.get("replica_nodes")
        if isinstance(leader, int):
            self.leader = leader
        if isinstance(replicas, list):
            self.replicas = tuple(replicas)

    def epoch(self, value: Any) -> Any:
        if not isinstance(value, int):
            return value
        if not self.free:
            self.highest = max(self.highest, value)
        if value <= self.highest:
            return value
        return self.symbols.setdefault(value, f"$epoch-{len(self.symbols) + 1}")


def freed(transcript: Transcript, readings: list[Reading], used: Counter[str]) -> list[Reading]:
    """The readings with symbols for such epochs; `used` counts them."""
    stops = list(_stops(transcript)) if transcript.header.release in RELEASES else []
    if not stops:
        return readings
    known, out = Partitions(), []
    for reading in readings:
        while stops and stops[0][0] < reading.step:
            known.follower_stopped(stops.pop(0)[1])
        out.append(replace(reading, answer=known.read(reading.answer)))
    used[REASON] += known.used
    return out


class Partitions:
    """What answers have told of partitions so far."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], Partition] = {}
        self.used = 0

    def follower_stopped(self, broker: int) -> None:
        """From here on the epochs of partitions that it follows in are free."""
        for each in self._known.values():
            if broker in each.replicas and each.leader not in (broker, NOBODY):
                each.free = True

    def read(self, value: Any, topic: str = "", at: Partition | None = None) -> Any:
        """The value, with symbols for epochs that are free; learns what it tells."""
        if isinstance(value, list):
            return [self.read(inner, topic, at) for inner in value]
        if not isinstance(value, dict):
            return value
        named = value.get("name", value.get("topic"))
        topic = named if isinstance(named, str) else topic
        index = value.get("partition_index", value.get("partition"))
        if isinstance(index, int):
            at = self._known.setdefault((topic, index), Partition())
            at.learn(value)
        if at is None or not EPOCHS & value.keys():
            return {name: self.read(inner, topic, at) for name, inner in value.items()}
        out = {}
        for name, inner in value.items():
            out[name] = at.epoch(inner) if name in EPOCHS else self.read(inner, topic, at)
            self.used += name in EPOCHS and out[name] != inner
        return out


def _stops(transcript: Transcript) -> Iterator[tuple[int, int]]:
    """(step, broker in the scenario's numbers) of each broker that was stopped in order."""
    for event in transcript.events:
        known = _BROKER.fullmatch(event.connection)
        if event.direction == "inflicted" and event.note == "stop" and known is not None:
            yield event.step, int(known[1])
