"""What a read of an internal topic's log may be compared by: a case's own records, opened.

The log of `__consumer_offsets`, `__transaction_state` or `__share_group_state` is shared by all
cases of a cluster, so where a record stands in it and what stands beside it differ from run to run,
while which records a case brought about, in which batches and with which values, must not. `opened`
decodes the records and takes the positions away before names are replaced (names have lengths, and
lengths are part of the encoding); `own` drops what is not this case's, afterwards, when names are
symbols.

Sources: GroupMetadataManager at 1.0.2, 2.8.2; KIP-915; schemas in reference_impl/wire/embedded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from touchstone.harness.model import record_view
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded import (
    consumer_group_records,
    consumer_offsets,
    share_state,
    streams_group_records,
    transaction_state,
)
from touchstone.reference_impl.wire.interpreter import DecodeError
from touchstone.reference_impl.wire.schema import Struct

SOMEWHERE = "$internal"
CONTROL = 0x20  # of a batch's attributes; message sets have nothing there
APIS = ("Fetch", "ListOffsets")
# fields of records that say when something was written
TIMES = (
    "commit_timestamp", "current_state_timestamp", "assignment_timestamp",
    "create_timestamp", "write_timestamp",
)  # fmt: skip
# where an answer's topics stand, and their names
_WHERE = {"Fetch": ("responses", "topic"), "ListOffsets": ("topics", "name")}
# topic -> the kinds of records in it, and the words of a key that say whose a record is
_KINDS: Mapping[str, tuple[embedded.Records, tuple[str, ...]]] = {
    "__consumer_offsets": (
        {
            **consumer_group_records.RECORDS,
            **streams_group_records.RECORDS,
            **consumer_offsets.RECORDS,
        },
        ("group", "topic", "group_id"),
    ),
    "__transaction_state": (transaction_state.RECORDS, ("transactional_id",)),
    "__share_group_state": (share_state.RECORDS, ("group_id",)),
}
_POSITIONS = ("high_watermark", "last_stable_offset", "log_start_offset", "offset", "first_offset")


def concerns_internal_topic(api: str, answer: Struct) -> bool:
    """Whether this answer is about an internal topic."""
    where, word = _WHERE.get(api, ("", ""))
    return any(row.get(word) in _KINDS for row in answer.get(where) or ())


def opened(api: str, answer: Struct) -> Struct:
    """The decoded answer with its internal topics' records decoded and positions taken away."""
    where, word = _WHERE[api]
    rows = [
        {**row, "partitions": [_opened(row[word], part) for part in row["partitions"]]}
        if row.get(word) in _KINDS
        else row
        for row in answer[where]
    ]
    return {**answer, where: rows}


def own(api: str, answer: Struct, ours: Collection[str]) -> Struct:
    """The same after names became symbols, without records that belong to other cases."""
    if api != "Fetch":
        return answer
    rows = [
        {**row, "partitions": [_own(row["topic"], part, ours) for part in row["partitions"]]}
        if row.get("topic") in _KINDS
        else row
        for row in answer["responses"]
    ]
    return {**answer, "responses": rows}


def _opened(topic: str, part: Struct) -> Struct:
    out = {
        word: SOMEWHERE if word in _POSITIONS and isinstance(value, int) and value >= 0 else value
        for word, value in part.items()
    }
    if "records" in part:
        data = part["records"]
        batches = record_view.view(bytes(data) if data is not None else None)
        out["records"] = None if batches is None else [
            _batch(topic, batch) for batch in batches if "records" in batch
        ]  # fmt: skip
    if part.get("aborted_transactions"):
        aborted = [{**one, "first_offset": SOMEWHERE} for one in part["aborted_transactions"]]
        out["aborted_transactions"] = aborted
    return out


def _batch(topic: str, batch: Struct) -> Struct:
    kinds = {} if batch["attributes"] & CONTROL else _KINDS[topic][0]
    produced = batch.get("producer_id", -1) >= 0  # else a sequence says nothing: 0 or -1
    return {
        "magic": batch["magic"],
        "attributes": batch["attributes"],
        "producer_id": batch.get("producer_id", -1),
        "producer_epoch": batch.get("producer_epoch", -1),
        "base_sequence": batch["base_sequence"] if produced else -1,
        "records": [_record(kinds, record) for record in batch["records"]],
    }


def _record(kinds: embedded.Records, record: Struct) -> Struct:
    key, value = record["key"] or b"", record["value"]
    plain = {"attributes": record["attributes"], "headers": record["headers"]}
    try:
        kind, body = embedded.decode_key(kinds, key)
        version, found = (None, None)
        odd = embedded.encode_key(kinds, kind, body) != key
        if value is not None:
            version, found = embedded.decode_value(kinds, kind, value)
            odd = odd or embedded.encode_value(kinds, kind, version, found) != value
    except DecodeError:
        return plain | {"key": key, "value": value}
    if odd:  # more bytes than the record takes, or others than Kafka writes
        plain |= {"odd": True}
    if found is not None and found.get("expire_timestamp", -1) >= 0:
        lives = found.pop("expire_timestamp") - found["commit_timestamp"]
        found["expires_after"] = lives
    if found is not None and "regular_expression" in body:  # resolved when, and against what
        found |= {"version": SOMEWHERE, "timestamp": SOMEWHERE}
    return plain | {"kind": kind, "key": body, "version": version, "value": found}


def _own(topic: str, part: Struct, ours: Collection[str]) -> Struct:
    words = _KINDS[topic][1]
    if part.get("records", ()) is None:
        return part
    batches, producers = [], set()
    for batch in part.get("records") or ():
        if batch["attributes"] & CONTROL:
            kept = batch["records"] if batch["producer_id"] in producers else []
        else:
            kept = [r for r in batch["records"] if _mine(r["key"], words, ours)]
        if kept:  # a commit's partitions come in the order of a hash map
            in_order = sorted(kept, key=lambda record: str(record["key"]))
            batches.append({**batch, "records": in_order})
            producers.add(batch["producer_id"])
    return {**part, "records": batches}


def _mine(key: Any, words: tuple[str, ...], ours: Collection[str]) -> bool:
    return isinstance(key, dict) and any(key.get(word) in ours for word in words)
