"""What was acknowledged is there: each record once, in order, for several real clients.

One batch after another is produced with acks=all while the campaign goes on. A batch whose answer
did not come may be there or not, so it is looked for and not required. Afterwards each client of
`readers` reads the whole partition.
"""

from __future__ import annotations

from touchstone.fuzz.watches.readers import READERS, Records, ours
from touchstone.fuzz.watches.topics import batch_of, create, delete, ends, produce
from touchstone.fuzz.watches.watch import CANARY, Asker, Played, Watch, Watched, name_of
from touchstone.harness.targets import reach

TOPIC = f"{CANARY}-records"
PER_BATCH = 3


class Acknowledged:
    """What a producer of one partition was told, and what a reader may therefore be shown."""

    def __init__(self, asker: Asker, topic: str) -> None:
        self.asker, self.topic = asker, topic
        self.offsets: dict[str, int] = {}  # of each acknowledged value
        self.next = 0  # the offset after the last acknowledged one
        self.unknown: set[str] = set()
        self.sent: list[str] = []

    def produce(self) -> str | None:
        """One batch more; a complaint about its answer."""
        values = [f"{len(self.sent) + number:09}" for number in range(PER_BATCH)]
        self.sent += values
        row = produce(self.asker, self.topic, 0, batch_of(values))
        if row is None:
            self.unknown.update(values)
            return None
        if row["error_code"]:
            return f"Produce of a good batch answers {name_of(row['error_code'])}"
        expected = self.next
        # What nobody answered may stand in between.
        if not expected <= row["base_offset"] <= expected + len(self.unknown):
            return f"a batch that begins at {expected} is answered with {row['base_offset']}"
        self.offsets |= {value: row["base_offset"] + at for at, value in enumerate(values)}
        self.next = row["base_offset"] + len(values)
        return None

    def complaint(self, reader: str, shown: Records) -> str | None:
        """What is wrong with what a reader was shown of the whole partition."""
        values = [value for _, value in shown]
        there = {value: offset for offset, value in shown}
        lost = [value for value in self.offsets if value not in there]
        if lost:
            return f"{reader} misses {len(lost)} acknowledged records, the first is {lost[0]}"
        sent = set(self.sent) | self.offsets.keys()
        strange = [value for value in values if value not in sent]
        if strange:
            return f"{reader} reads what nobody sent: {strange[0]!r}"
        if len(there) < len(values):
            return f"{reader} reads {len(values) - len(there)} records twice"
        if values != sorted(values):
            return f"{reader} reads records out of order"
        moved = [value for value, offset in self.offsets.items() if there[value] != offset]
        if moved:
            first = moved[0]
            return f"{reader} reads {first} at {there[first]}, told was {self.offsets[first]}"
        return None


class CanaryRecords(Watch):
    every_s = 0.2

    def before(self, target: Watched) -> None:
        self.target, self.asker = target, target.asker()
        create(self.asker, TOPIC)
        self.acknowledged = Acknowledged(self.asker, TOPIC)
        self.read_by: list[str] = []
        self.missing: list[str] = []
        self.shut_out: list[str] = []  # which are not told how to log in

    def check(self, now: float) -> str | None:
        return self.acknowledged.produce()

    def after(self, now: float, played: Played) -> str | None:
        _, end = ends(self.asker, TOPIC, 0)
        for name, reader in READERS.items():
            if reader is not ours and reach.login_of(self.target.address) is not None:
                self.shut_out.append(name)
                continue
            try:
                shown = reader(self.target.bootstrap, TOPIC, end)
            except ImportError:
                self.missing.append(name)
                continue
            complaint = self.acknowledged.complaint(name, shown)
            if complaint:
                return complaint
            self.read_by.append(name)
        delete(self.asker, TOPIC)
        return None

    def figures(self) -> str:
        told = f"{len(self.acknowledged.offsets)} records acknowledged"
        told += f", read by {', '.join(self.read_by) or 'nobody'}"
        told += f"; not logged in: {', '.join(self.shut_out)}" if self.shut_out else ""
        return told + (f"; not installed: {', '.join(self.missing)}" if self.missing else "")
