"""Planted defects of consumers in what they fetch, and in what they make of batches with gaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from touchstone.harness.adapters.lying import (
    Liar,
    Row,
    answer,
    event,
    planted,
)
from touchstone.reference_impl.wire import records
from touchstone.reference_impl.wire.records import batch


def _counted(row: Row) -> Row:
    """Offsets count the records of an event from its first one on."""
    first = row["records"][0]["offset"]
    rows = [one | {"offset": first + at} for at, one in enumerate(row["records"])]
    return row | {"records": rows}


def _in_batches(change: Callable[[bytes], bytes]) -> Callable[[Row], Row]:
    """The records of each partition of an answer are other ones; `change` gets one batch."""

    def rewrite(body: Row) -> Row:
        for topic in body["responses"]:
            for part in topic["partitions"]:
                data, made, at = bytes(part["records"] or b""), b"", 0
                while at + batch.HEADER_SIZE <= len(data):
                    size = records.read_header(data, at).size
                    made += change(data[at : at + size])
                    at += size
                part["records"] = made
        return body

    return rewrite


def _ends_with_its_last_record(data: bytes) -> bytes:
    head = records.read_header(data, 0)
    if not head.records_count:
        return data
    last = max(one["offset"] for one in records.read(data) or ())
    return records.rewrite(data, last_offset_delta=last - head.base_offset)


def _unless_empty(data: bytes) -> bytes:
    return data if records.read_header(data, 0).records_count else b""


TABLE: Mapping[str, Liar] = {
    "offsets-counted": Liar(
        "Offsets are counted from the first record.", events=event("records_consumed", _counted)
    ),
    "gaps-asked-for-again": Liar(
        "A batch ends with its last record.",
        answers=answer("Fetch", _in_batches(_ends_with_its_last_record)),
    ),
    "empty-batches-dropped": Liar(
        "A batch without records is not looked at.",
        answers=answer("Fetch", _in_batches(_unless_empty)),
    ),
    "hands-out-aborted-records": Liar(
        "A committed reader is given what was aborted.",
        planted("hands-out-aborted-records", "consumer"),
    ),
}
