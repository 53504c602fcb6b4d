"""Clients with a planted defect: each is a good client of which something is changed.

A liar is named with the client that it lives in (`--client touchstone+acks-always-1`), and each
claim of a client names in `switches` those that it catches; a test sees that it does. This file has
those of records and offsets; `leader_liars.py`, `fetch_liars.py`, `group_liars.py`,
`transaction_liars.py` and `admin_liars.py` have the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from touchstone.harness.adapters import (
    admin_liars,
    fetch_liars,
    group_liars,
    leader_liars,
    transaction_liars,
)
from touchstone.harness.adapters.lying import (
    CONFIG,
    Liar,
    Lie,
    Rewrite,
    Row,
    answer,
    command,
    event,
    records_of,
    request,
    setting,
    settings,
)
from touchstone.reference_impl.wire import headers, records
from touchstone.reference_impl.wire.apis import by_name


def backwards(row: Row) -> Row:
    return row | {"records": row["records"][::-1]} if row["command"] == "send" else row


def unthrottled(key: int, body: Row) -> Row:
    return body | {"throttle_time_ms": 0} if "throttle_time_ms" in body else body


def every_version(body: Row) -> Row:
    """Produce and Fetch are offered as 4.3 does."""
    newest = {0: 13, 1: 17}
    for row in body["api_keys"]:
        row["max_version"] = newest.get(row["api_key"], row["max_version"])
    return body


def in_partitions(field: str, value: Any) -> Callable[[Row], Row]:
    """A field of each partition of a Fetch is another one."""

    def change(body: Row) -> Row:
        for row in body["responses"]:
            for part in row["partitions"]:
                part[field] = value
        return body

    return change


def has_tags(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value.get("_tags")) or any(has_tags(one) for one in value.values())
    return isinstance(value, list) and any(has_tags(one) for one in value)


def metadata_once() -> Lie:
    """What was learned of leaders before the first fetch is never renewed."""
    fetched: list[bool] = []

    def lie(key: int, version: int, one: headers.Request) -> Row | bool | None:
        if key == by_name("Fetch").key:
            fetched.append(True)
        return False if fetched and key == by_name("Metadata").key else None

    return lie


def told_well(row: Row) -> Row | None:
    """An error of a record as its success, every other error as nothing."""
    if row["name"] == "producer_send_error":
        place = {"partition": 0, "offset": 0}
        return {k: row[k] for k in ("client", "topic", "key", "value")} | place | {
            "name": "producer_send_success"
        }  # fmt: skip
    return None if row["name"] == "consumer_error" else row


def without_first() -> Rewrite:
    """The first record that is consumed is lost."""
    lost: list[bool] = []

    def rewrite(row: Row) -> Row | None:
        if row["name"] != "records_consumed" or lost:
            return row
        lost.append(True)
        rest = row["records"][1:]
        return row | {"records": rest, "count": len(rest) + 1}

    return rewrite


def shuffled(row: Row) -> Row:
    return row | {"records": row["records"][::-1]}


def doubled(row: Row) -> Row:
    return row | {"records": row["records"] * 2}


def skipped_sequence(body: Row) -> Row:
    """Every sequence but the first is one too high."""
    for topic in body["topic_data"]:
        for part in topic["partition_data"]:
            data = bytes(part["records"])
            first = records.read_header(data, 0).base_sequence
            if first > 0:
                part["records"] = records.rewrite(data, base_sequence=first + 1)
    return body


def one_less(body: Row) -> Row:
    for topic in body["topics"]:
        for part in topic["partitions"]:
            part["committed_offset"] -= 1
    return body


def one_partition(body: Row) -> Row:
    """Only one partition of a request is asked for."""
    for topic in body["topic_data"]:
        topic["partition_data"] = topic["partition_data"][:1]
    return body


def as_another(body: Row) -> Row:
    members = [row | {"member_id": "somebody"} for row in body.get("members") or ()]
    return body | {"member_id": "somebody", "members": members}


def _flush_early() -> Rewrite:
    """`flush_complete` comes before the deliveries: those are held back until it was said."""
    return lambda row: None if row["name"] == "producer_send_success" else row


SENDS_ONE = setting("batch.size", "1", "producer")
UNSAFE = settings("producer", enable_idempotence="false")
NO_RETRIES = settings("producer", enable_idempotence="false", retries="0")
DEFECTS: Mapping[str, Liar] = {
    "batch-of-one": Liar("Each record is a batch.", SENDS_ONE),
    "batch-size-ignored": Liar(
        "Batches grow beyond batch.size.", setting("batch.size", "1000000", "producer")
    ),
    "lingers-for-long": Liar(
        "Batches linger for minutes.", setting("linger.ms", "100000", "producer")
    ),
    "memory-not-counted": Liar(
        "Memory has no bound.", setting("buffer.memory", "33554432", "producer")
    ),
    "one-in-flight": Liar(
        "Each request waits for the one before.",
        setting("max.in.flight.requests.per.connection", "1", "producer"),
    ),
    "one-partition-a-request": Liar(
        "Of a request with several partitions one is sent.",
        requests=request("Produce", one_partition),
    ),
    "records-again": Liar(
        "A record is sent twice.",
        lambda: (
            lambda row: row | {"records": row["records"] * 2} if row["command"] == "send" else row
        ),
    ),
    "flush-says-so-early": Liar("Deliveries are not told before a flush.", events=_flush_early),
    "close-drops-what-is-queued": Liar(
        "What lingers when a producer closes is dropped.", command("send", lambda row: None)
    ),
    "keys-to-partition-0": Liar(
        "Every record goes to partition 0.", records_of(lambda one, at: one | {"partition": 0})
    ),
    "compression-ignored": Liar(
        "Nothing is compressed.", setting("compression.type", "none", "producer")
    ),
    "headers-dropped": Liar(
        "Headers are not sent.", records_of(lambda one, at: one | {"headers": []})
    ),
    "null-becomes-empty": Liar(
        "A null value is sent as an empty one.",
        records_of(lambda one, at: one | {"value": one["value"] or ""}),
    ),
    "first-record-last": Liar("Records leave in another order.", lambda: backwards),
    "acks-always-1": Liar(
        "Requests want the leader's acknowledgement alone.",
        requests=request("Produce", lambda body: body | {"acks": 1}),
    ),
    "offset-guessed": Liar(
        "An offset is told that no answer named.",
        events=event("producer_send_success", lambda row: row | {"offset": row["offset"] + 5}),
    ),
    "retries-off": Liar("Nothing is tried again.", NO_RETRIES),
    "idempotence-off": Liar("A producer takes no id.", UNSAFE),
    "errors-swallowed": Liar("Errors are told as successes.", events=lambda: told_well),
    "sequence-skipped": Liar(
        "A sequence is left out.", requests=request("Produce", skipped_sequence)
    ),
    "commits-become-aborts": Liar(
        "A commit is sent as an abort.",
        requests=request("EndTxn", lambda body: body | {"committed": False}),
    ),
    "aborts-become-commits": Liar(
        "An abort is sent as a commit.",
        requests=request("EndTxn", lambda body: body | {"committed": True}),
    ),
    "commits-the-last-offset": Liar(
        "Offsets that are committed are one too low.",
        requests=lambda: (
            lambda key, version, one: (
                one_less(one.body)
                if key in (by_name("OffsetCommit").key, by_name("TxnOffsetCommit").key)
                else None
            )
        ),
    ),
    "commits-by-itself": Liar(
        "A consumer commits although it is told not to.",
        setting("enable.auto.commit", "true", "consumer"),
    ),
    "commit-failure-hidden": Liar(
        "A commit that failed is told as done.",
        events=event("offsets_committed", lambda row: row | {"success": True}),
    ),
    "says-that-commits-fail": Liar(
        "A commit that was done is told as failed.",
        events=event("offsets_committed", lambda row: row | {"success": False}),
    ),
    "reads-backwards": Liar(
        "Records of an answer come in reverse.", events=event("records_consumed", shuffled)
    ),
    "reads-twice": Liar("Records come again.", events=event("records_consumed", doubled)),
    "skips-a-record": Liar("The first record is not handed out.", events=without_first),
    "reset-ignored": Liar(
        "A consumer begins elsewhere than its policy says.",
        lambda: (
            lambda row: (
                row
                | {
                    CONFIG: row[CONFIG]
                    | {
                        "auto.offset.reset": "earliest"
                        if row[CONFIG].get("auto.offset.reset") != "earliest"
                        else "latest"
                    }
                }
                if row["command"] == "open" and row["kind"] == "consumer"
                else row
            )
        ),
    ),
    "max-poll-records-ignored": Liar(
        "A poll gives whatever was fetched.", setting("max.poll.records", "500", "consumer")
    ),
    "pause-ignored": Liar(
        "A paused partition is read.", command("pause", lambda row: row | {"partitions": []})
    ),
    "never-stops-polling": Liar(
        "Somebody else polls in the application's place.",
        command("poll", lambda row: row | {"on": True}),
    ),
    "isolation-ignored": Liar(
        "The isolation level is another one.",
        lambda: (
            lambda row: (
                row
                | {
                    CONFIG: row[CONFIG]
                    | {
                        "isolation.level": "read_uncommitted"
                        if row[CONFIG].get("isolation.level") == "read_committed"
                        else "read_committed"
                    }
                }
                if row["command"] == "open" and row["kind"] == "consumer"
                else row
            )
        ),
    ),
    "crc-unchecked": Liar(
        "Checksums of batches are not looked at.", setting("check.crcs", "false", "consumer")
    ),
    "metadata-hidden": Liar("Leaders are looked up once.", requests=metadata_once),
    "versions-not-asked": Liar(
        "ApiVersions is never asked.", requests=request("ApiVersions", lambda body: False)
    ),
    "versions-ignored": Liar(
        "Versions are used that were not offered.", answers=answer("ApiVersions", every_version)
    ),
    "dies-of-the-unknown": Liar(
        "An answer with an unknown tagged field is not read.",
        answers=lambda: lambda key, body: None if has_tags(body) else body,
    ),
    "throttle-hidden": Liar("Throttling is not looked at.", answers=lambda: unthrottled),
    "sessions-refused": Liar(
        "A fetch session is not taken up.",
        answers=answer("Fetch", lambda body: body | {"session_id": 0}),
    ),
    "preferred-replica-hidden": Liar(
        "A preferred replica is not looked at.",
        answers=answer("Fetch", in_partitions("preferred_read_replica", -1)),
    ),
    "errors-of-heartbeats-hidden": Liar(
        "Errors of heartbeats are not looked at.",
        answers=answer("Heartbeat", lambda body: body | {"error_code": 0}),
    ),
    "assignment-hidden": Liar(
        "The application is not told of its partitions.",
        events=event("partitions_assigned", lambda row: None),
    ),
    "revocation-hidden": Liar(
        "The application is not told that partitions are taken away.",
        events=event("partitions_revoked", lambda row: None),
    ),
    "heartbeats-withheld": Liar(
        "Heartbeats are of another generation.",
        requests=request("Heartbeat", lambda body: body | {"generation_id": 99}),
    ),
    "leaves-as-another": Liar(
        "A member that leaves names another.", requests=request("LeaveGroup", as_another)
    ),
    "instance-id-dropped": Liar(
        "A static member does not say that it is one.",
        requests=request("JoinGroup", lambda body: body | {"group_instance_id": None}),
    ),
    **leader_liars.TABLE,
    **fetch_liars.TABLE,
    **group_liars.TABLE,
    **transaction_liars.TABLE,
    **admin_liars.TABLE,
}
"""Every defect by name."""
