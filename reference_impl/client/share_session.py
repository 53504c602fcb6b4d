"""What one broker remembers of a share consumer's fetches, and acknowledgements as it is told them.

A session begins with epoch 0, which names what is fetched; each request after it, fetch or
acknowledgement, counts one up, names what is new or acknowledged and what to forget; epoch -1 ends
it and releases what is left. Acknowledgements belong to the session in which the records came:
where it is lost they are too, and the records are delivered again when their locks end.

Source: ShareSessionHandler, Acknowledgements at 4.3.1; KIP-932.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum

from touchstone.reference_impl.wire.schema import Struct

_FIRST, _LAST = 0, -1
_HIGHEST = 2**31 - 1
Place = tuple[bytes, int]  # topic id, partition


class AcknowledgeType(IntEnum):
    """GAP is no application's business: nothing stands at an offset that was acquired."""

    GAP = 0
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4


Acknowledgements = Mapping[int, AcknowledgeType]  # by offset


def batches(acknowledged: Acknowledgements) -> list[Struct]:
    """Runs of offsets; one type for all of a run, or one for each offset."""
    runs: list[list[tuple[int, int]]] = []
    for offset, kind in sorted(acknowledged.items()):
        if not runs or runs[-1][-1][0] != offset - 1:
            runs.append([])
        runs[-1].append((offset, int(kind)))
    found = []
    for run in runs:
        kinds = [kind for _, kind in run]
        found.append(
            {
                "first_offset": run[0][0],
                "last_offset": run[-1][0],
                "acknowledge_types": kinds[:1] if len(set(kinds)) == 1 else kinds,
            }
        )
    return found


class ShareSession:
    """Requests to one broker, one at a time."""

    def __init__(self) -> None:
        self.epoch = _FIRST
        self._kept: set[Place] = set()

    @property
    def begun(self) -> bool:
        return self.epoch != _FIRST

    def fetch(self, wanted: Iterable[Place], acks: Mapping[Place, Acknowledgements]) -> Struct:
        """The fields of a ShareFetch; `acks` may be given once the session has begun."""
        now = set(wanted)
        named = (now - self._kept) | acks.keys()
        gone, self._kept = self._kept - now, now
        return {
            "share_session_epoch": self.epoch,
            "topics": _rows({place: acks.get(place, {}) for place in sorted(named)}),
            "forgotten_topics_data": [
                {"topic_id": topic_id, "partitions": [index]} for topic_id, index in sorted(gone)
            ],
        }

    def acknowledge(self, acks: Mapping[Place, Acknowledgements], *, last: bool = False) -> Struct:
        """The fields of a ShareAcknowledge."""
        return {"share_session_epoch": _LAST if last else self.epoch, "topics": _rows(acks)}

    def succeeded(self) -> None:
        self.epoch = 1 if self.epoch == _HIGHEST else self.epoch + 1

    def lost(self) -> None:
        """Begin anew."""
        self.epoch = _FIRST
        self._kept = set()


def _rows(acks: Mapping[Place, Acknowledgements]) -> list[Struct]:
    topics: dict[bytes, list[Struct]] = {}
    for (topic_id, index), acknowledged in acks.items():
        row = {"partition_index": index, "acknowledgement_batches": batches(acknowledged)}
        topics.setdefault(topic_id, []).append(row)
    return [{"topic_id": topic_id, "partitions": rows} for topic_id, rows in topics.items()]
