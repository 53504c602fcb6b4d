"""What a target must have before a finding is replayed: frames to send, and what to wait for.

The requests are of versions that all releases from 1.0 to 4.3 serve. They are sent over and over,
for a topic that is created has no leader at once, and the first question for a group creates the
topic of the offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from touchstone.fuzz.corpus_run import (
    CREATE,
    GROUP_KEYS,
    HEARTBEAT,
    INIT_PRODUCER_ID,
    LIST_OFFSETS,
    NO_SUCH_MEMBER,
)
from touchstone.fuzz.mutators import frame
from touchstone.fuzz.neighbours import FIND_COORDINATOR
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.schema import Struct

GROUP, TRANSACTION = "fz-group-0", "fz-transaction-0"
END_TXN = 26
TRANSACTION_KEYS = {INIT_PRODUCER_ID, 24, 25, END_TXN, 28}


@dataclass(frozen=True)
class Setup:
    """Frames, sent in order until the answer to the last one has `wanted` at offset `at`."""

    sentence: str
    wires: tuple[bytes, ...]
    at: int
    wanted: bytes


def setup_of(topics: Mapping[str, bool], keys: Iterable[int]) -> Iterator[Setup]:
    """For topics (by name: whether they are compacted) and for steps of these API keys."""
    for name, compacted in topics.items():
        yield topic(name, compacted=compacted)
    if GROUP_KEYS & set(keys):
        ghost = {"group_id": GROUP, "generation_id": 1, "member_id": "ghost"}
        wires = (
            _wire(FIND_COORDINATOR, 1, {"key": GROUP, "key_type": 0}),
            _wire(HEARTBEAT, 0, ghost),
        )
        yield Setup("groups are served", wires, 4, NO_SUCH_MEMBER.to_bytes(2, "big"))
    if INIT_PRODUCER_ID in keys:
        body = {"transactional_id": None, "transaction_timeout_ms": 1000}
        yield Setup("producer ids are given", (_wire(INIT_PRODUCER_ID, 0, body),), 8, bytes(2))
    if TRANSACTION_KEYS & set(keys):
        nobody = {
            "transactional_id": TRANSACTION, "producer_id": 1, "producer_epoch": 0,
            "committed": False,
        }  # fmt: skip
        wires = (
            _wire(FIND_COORDINATOR, 1, {"key": TRANSACTION, "key_type": 1}),
            _wire(END_TXN, 0, nobody),
        )
        code = ErrorCode.INVALID_PRODUCER_ID_MAPPING.to_bytes(2, "big")
        yield Setup("transactions are served", wires, 8, code)


def topic(name: str, *, compacted: bool) -> Setup:
    """A topic with one partition and a leader: ListOffsets answers without an error."""
    configs = [{"name": "cleanup.policy", "value": "compact"}] if compacted else []
    row = {
        "name": name, "num_partitions": 1, "replication_factor": 1, "assignments": [],
        "configs": configs,
    }  # fmt: skip
    partition = {"partition_index": 0, "timestamp": -1}
    creation = {"topics": [row], "timeout_ms": 5000, "validate_only": False}
    ends = {"replica_id": -1, "topics": [{"name": name, "partitions": [partition]}]}
    wires = (_wire(CREATE, 2, creation), _wire(LIST_OFFSETS, 1, ends))
    before_the_code = 4 + 4 + 2 + len(name.encode()) + 4 + 4  # id, topics, name, partitions, index
    return Setup(f"topic {name} has a leader", wires, before_the_code, bytes(2))


def _wire(key: int, version: int, body: Struct) -> bytes:
    return frame(encode_request(key, version, 1, "touchstone-setup", body))
