"""Topics of watches: created with settings of their own, written to, read back, deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from touchstone.fuzz.watches.watch import RETRIABLE, Asker, Wrong, eventually, name_of
from touchstone.harness.model.record_view import view
from touchstone.reference_impl.wire.records import build
from touchstone.reference_impl.wire.schema import Struct

KEPT = {"retention.ms": "-1", "retention.bytes": "-1"}
MOST_BYTES = 1 << 20
EARLIEST, LATEST = -2, -1


def create(
    asker: Asker, name: str, *, partitions: int = 1, settings: Mapping[str, str] = KEPT
) -> None:
    """The topic with one replica, empty: one of this name that is there is deleted before."""
    row = {
        "name": name, "num_partitions": partitions, "replication_factor": 1, "assignments": [],
        "configs": [{"name": key, "value": value} for key, value in settings.items()],
    }  # fmt: skip
    body = {"topics": [row], "timeout_ms": 5000, "validate_only": False}
    delete(asker, name)
    eventually(lambda: _has_leaders(asker, name, partitions, body), asker.link, f"no topic {name}")


def _has_leaders(asker: Asker, name: str, partitions: int, creation: Struct) -> bool:
    # Again and again: a topic being deleted still exists for a while after it is not listed.
    asker.once("CreateTopics", 2, creation)
    return all(_end(asker, name, number, LATEST)[0] == 0 for number in range(partitions))


def delete(asker: Asker, name: str) -> None:
    if name in listed(asker):
        asker.once("DeleteTopics", 1, {"topic_names": [name], "timeout_ms": 5000})
        eventually(lambda: name not in listed(asker), asker.link, f"{name} is not deleted")


def listed(asker: Asker) -> dict[str, list[int]]:
    """The partitions of every topic."""
    answer = asker.ask("Metadata", 1, {"topics": None})
    return {
        row["name"]: sorted(part["partition_index"] for part in row["partitions"])
        for row in answer["topics"]
    }


def _end(asker: Asker, topic: str, partition: int, which: int) -> tuple[int, int]:
    """(error code, offset) of an end of a partition."""
    row = {"partition_index": partition, "timestamp": which}
    body = {"replica_id": -1, "topics": [{"name": topic, "partitions": [row]}]}
    told = asker.ask("ListOffsets", 1, body)["topics"][0]["partitions"][0]
    return told["error_code"], told["offset"]


def ends(asker: Asker, topic: str, partition: int) -> tuple[int, int]:
    """The first offset and the one after the last; waited for while no leader serves it (a broker
    that was started again). Raises Wrong for an error.
    """
    return _served_end(asker, topic, partition, EARLIEST), _served_end(
        asker, topic, partition, LATEST
    )


def _served_end(asker: Asker, topic: str, partition: int, which: int) -> int:
    def told() -> tuple[int, int] | None:
        code, offset = _end(asker, topic, partition, which)
        return None if code in RETRIABLE else (code, offset)

    code, offset = eventually(told, asker.link, f"{topic}-{partition} has no leader")
    if code:
        raise Wrong(f"ListOffsets of {topic}-{partition} answers {name_of(code)}")
    return int(offset)


def produce(
    asker: Asker, topic: str, partition: int, records: bytes, transactional_id: str | None = None
) -> Struct | None:
    """The partition's row of the answer to acks=all, asked once; None when nothing came back."""
    rows = [{"index": partition, "records": records}]
    body = {
        "transactional_id": transactional_id, "acks": -1, "timeout_ms": 10_000,
        "topic_data": [{"name": topic, "partition_data": rows}],
    }  # fmt: skip
    answer = asker.once("Produce", 3, body)
    return None if answer is None else answer["responses"][0]["partition_responses"][0]


def batch_of(values: Iterable[str], timestamp: int = 1_700_000_000_000) -> bytes:
    return build(2, [(b"canary", value.encode()) for value in values], timestamp=timestamp)


def batches(asker: Asker, topic: str, partition: int, start: int) -> Iterator[Struct]:
    """Every entry (record_view) from the batch with offset `start` to the high watermark. Raises
    Wrong for an error, and where nothing comes although there is more.
    """
    offset = start
    while True:
        place = {"partition": partition, "fetch_offset": offset, "partition_max_bytes": MOST_BYTES}
        body = {
            "replica_id": -1, "max_wait_ms": 0, "min_bytes": 0, "max_bytes": MOST_BYTES,
            "isolation_level": 0, "topics": [{"topic": topic, "partitions": [place]}],
        }  # fmt: skip
        row = asker.ask("Fetch", 4, body)["responses"][0]["partitions"][0]
        where = f"Fetch of {topic}-{partition} from {offset}"
        if row["error_code"]:
            raise Wrong(f"{where} answers {name_of(row['error_code'])}")
        if offset >= row["high_watermark"]:
            return
        whole = [one for one in view(bytes(row["records"] or b"")) or [] if "partial" not in one]
        if not whole:
            raise Wrong(f"{where} is empty; the high watermark is {row['high_watermark']}")
        for entry in whole:
            if "fault" in entry and "base_offset" not in entry and "offset" not in entry:
                raise Wrong(f"{where}: {entry['fault']}")
            yield entry
        offset = last_offset(whole[-1]) + 1


def last_offset(entry: Struct) -> int:
    if "base_offset" in entry:
        return int(entry["base_offset"] + entry["last_offset_delta"])
    return int(entry["offset"])
