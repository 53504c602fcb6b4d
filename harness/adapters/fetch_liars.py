"""Planted defects of consumers in what they fetch, and in what they make of batches with gaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from touchstone.harness.adapters.lying import (
    Liar,
    Rewrite,
    Row,
    answer,
    event,
    fields,
    planted,
    request,
)
from touchstone.reference_impl.wire import records
from touchstone.reference_impl.wire.records import batch


def _one_partition(body: Row) -> Row:
    for topic in body["topics"]:
        topic["partitions"] = topic["partitions"][:1]
    return body


def _in_order(body: Row) -> Row:
    for topic in body["topics"]:
        topic["partitions"] = sorted(topic["partitions"], key=lambda part: part["partition"])
    return body


def _as_asked(body: Row) -> Row:
    """Whatever partition an answer names was the first one."""
    for topic in body["responses"]:
        for part in topic["partitions"]:
            part["partition_index"] = 0
    return body


def _with_limits(body: Row) -> Row:
    for topic in body["topics"]:
        for part in topic["partitions"]:
            part["partition_max_bytes"] = 1 << 20
    return body | {"min_bytes": 1, "max_wait_ms": 500, "max_bytes": 50 << 20}


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


def _seeks_nowhere() -> Rewrite:
    return lambda row: row | {"offset": 0} if row["command"] == "seek" else row


TABLE: Mapping[str, Liar] = {
    "limits-not-said": Liar(
        "A Fetch names other limits than are configured.", requests=request("Fetch", _with_limits)
    ),
    "rack-not-named": Liar("A Fetch names no rack.", requests=request("Fetch", fields(rack_id=""))),
    "fetches-one-partition": Liar(
        "Of several partitions one is fetched.", requests=request("Fetch", _one_partition)
    ),
    "other-partitions-believed": Liar(
        "An answer about another partition is taken.", answers=answer("Fetch", _as_asked)
    ),
    "first-partition-first": Liar(
        "Without sessions, each Fetch names partitions in one order.",
        requests=request("Fetch", _in_order),
        answers=answer("Fetch", fields(session_id=0)),
    ),
    "session-errors-hidden": Liar(
        "Errors of fetch sessions are not looked at.",
        answers=answer("Fetch", fields(error_code=0)),
    ),
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
    "seek-ignored": Liar("Every seek goes to offset 0.", _seeks_nowhere),
}
