"""A member of a group as an application is one: it polls, commits, leaves, and joins again."""

from __future__ import annotations

import time
from collections import defaultdict

from touchstone.harness.checkers.soaks.log_ledger import Place
from touchstone.harness.driver.soak.following import POLL_MS
from touchstone.harness.driver.soak.role import Role, Shared
from touchstone.reference_impl.client.defects import consumer
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.client.group_offsets import OffsetsToCommit
from touchstone.reference_impl.client.reading import Consumed
from touchstone.reference_impl.io.blocking import BlockingGroupConsumer

CONFIG = {
    "auto.offset.reset": "earliest", "enable.auto.commit": False, "session.timeout.ms": 10_000,
    "max.poll.interval.ms": 30_000,
}  # fmt: skip
PROTOCOL = {"consumer": {"group.protocol": "consumer"}}
# What Java refuses in a configuration of the newer protocol: its broker has it.
BROKERS_OWN = {"consumer": {"session.timeout.ms"}}


class Grouped(Role):
    """One poll in two commits by itself, the other has the next call do it."""

    member: BlockingGroupConsumer | None = None

    def __init__(self, name: str, protocol: str, shared: Shared) -> None:
        super().__init__(name, shared, shared.over)
        self.protocol, self.ledger = protocol, shared.groups[protocol]
        self.leaves_at = 0.0

    def turn(self) -> None:
        if self.member is None:
            self._join()
        elif time.monotonic() > self.leaves_at and not self.shared.sending_is_over.is_set():
            self._leave()
        else:
            self._read(self.member)

    def end(self) -> None:
        self._leave()

    def _join(self) -> None:
        self.client = self.shared.client(self.name)
        refused = BROKERS_OWN.get(self.protocol, set())
        config = {name: value for name, value in CONFIG.items() if name not in refused}
        config |= PROTOCOL.get(self.protocol, {}) | {"group.id": self.ledger.name}
        found = self.client.consumer(topics=[self.plan.topic], config=config)
        assert isinstance(found, BlockingGroupConsumer)
        self.member = found
        self.plant(found.core, consumer.TABLE)
        self.leaves_at = time.monotonic() + self.plan.stay_s * self.random.uniform(1, 3)

    def _leave(self) -> None:
        gone, self.member = self.member, None
        if gone is None:
            return
        try:
            gone.close()
        except ClientError as error:
            self.shared.note(error)
        finally:
            self.client.close()

    def _read(self, member: BlockingGroupConsumer) -> None:
        records = member.poll(POLL_MS)
        if not records:
            return
        read = self._note(records)
        if self.random.random() < 0.5:
            member.commit()
            told = member.last_committed
            with self.shared.lock:
                for place in read.keys() & told.keys():
                    self.ledger.commit(place, told[place].offset, read[place][-1] + 1)
        else:
            member.commit_async(callback=self._committed)

    def _note(self, records: list[Consumed]) -> dict[Place, list[int]]:
        """The offsets that one poll gave, of each partition."""
        found: dict[Place, list[int]] = defaultdict(list)
        for each in records:
            found[each.topic, each.partition].append(each.offset)
        with self.shared.lock:
            for place, offsets in found.items():
                self.ledger.read(place, offsets)
        return found

    def _committed(self, offsets: OffsetsToCommit, error: ClientError | None) -> None:
        if error is not None:
            self.shared.note(error)
            return
        with self.shared.lock:
            for place, committed in offsets.items():
                offset = committed if isinstance(committed, int) else committed.offset
                self.ledger.commit(place, offset)
