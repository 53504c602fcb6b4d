"""What a target stored of all that it was sent is sound: CRCs, counts and offsets.

Every partition of every topic of the campaign is read from its first offset to its end. A batch's
CRC is that of its bytes, offsets go on where they ended (of a compacted topic they may leave some
out), and what the header says of the records is true of them. Kafka does not look into a payload
that it stores compressed as it came (since 2.4), so of such a batch only the header is judged.
"""

from __future__ import annotations

from touchstone.fuzz.watches.topics import batches, ends, last_offset, listed
from touchstone.fuzz.watches.watch import CANARY, Played, Watch, Watched
from touchstone.reference_impl.wire.schema import Struct

CODEC_BITS = 0x07
PREFIX = "fuzz-"  # of the campaign's topics


class StoredBatches(Watch):
    def before(self, target: Watched) -> None:
        self.asker = target.asker()
        self.partitions = self.seen = 0

    def after(self, now: float, played: Played) -> str | None:
        for topic, partitions in listed(self.asker).items():
            if topic.startswith((PREFIX, CANARY)):
                for partition in partitions:
                    complaint = self._walk(topic, partition)
                    if complaint:
                        return f"{topic}-{partition}: {complaint}"
        return None

    def _walk(self, topic: str, partition: int) -> str | None:
        start, end = ends(self.asker, topic, partition)
        self.partitions += 1
        expected = start
        for entry in batches(self.asker, topic, partition, start):
            self.seen += 1
            complaint = fault(entry) or _gap(entry, expected, start)
            if complaint:
                return complaint
            expected = last_offset(entry) + 1
        return None

    def figures(self) -> str:
        return f"{self.seen} batches in {self.partitions} partitions"


def _gap(entry: Struct, expected: int, start: int) -> str | None:
    """Batches follow each other; cleaning leaves gaps, so it is only going back that is wrong."""
    first = int(entry["base_offset"] if "base_offset" in entry else entry["offset"])
    if first < expected and first > start:
        return f"offset {first} follows {expected - 1}"
    return None


def fault(entry: Struct) -> str | None:
    """What is wrong with one batch or message as `record_view` shows it."""
    if entry["crc"] != entry["crc_computed"]:
        return f"the CRC {entry['crc']:08x} of a batch is not that of its bytes"
    if entry["magic"] < 2 or entry["attributes"] & CODEC_BITS:
        return None
    if "fault" in entry:
        return f"a batch at {entry['base_offset']} does not decode: {entry['fault']}"
    offsets = [record["offset"] for record in entry["records"]]
    if entry["records_count"] != len(offsets):
        return f"a batch says {entry['records_count']} records and holds {len(offsets)}"
    return None
