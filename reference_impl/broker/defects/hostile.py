"""Defects that show under broken frames, after many requests, or in what the process holds.

`faults/fuzz_faults.py` lists them; who notices them is the fuzzer. A planted broker counts the
requests that it could not read: several of these begin with one of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from touchstone.reference_impl.broker.broker import LOG, Broker
from touchstone.reference_impl.broker.data.log_manager import LogManager
from touchstone.reference_impl.broker.defects.planting import defect, handler_defect, setting
from touchstone.reference_impl.broker.effects import (
    Close,
    Connection,
    Effect,
    Reply,
    Request,
    Unmute,
)
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.log.partition_log import AppendResult, PartitionLog
from touchstone.reference_impl.log.rules import CLIENT
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.headers import encode_response

Real = Callable[..., Any]
METADATA, HEARTBEAT = 3, 12
MANY = 40  # unreadable requests
KIB = 1024


def counter(switch: str) -> None:
    """Have the broker count what this switch goes by: `unreadable` requests and `answers`."""

    @setting(switch, Broker)
    def begins_to_count(broker: Any) -> None:
        broker.unreadable = broker.answers = 0
        broker.kept = {}

    @defect(switch, Broker, "parse")
    def counts_unreadable(real: Real, broker: Any, *args: Any) -> Any:
        try:
            return real(*args)
        except Exception:
            broker.unreadable += 1
            raise


def at_unreadable(switch: str) -> Callable[[Callable[[Any, int], None]], Real]:
    """Have `change(broker, now)` happen at every request that cannot be read."""
    counter(switch)

    def added(change: Callable[[Any, int], None]) -> Real:
        @defect(switch, Broker, "receive")
        def notices(
            real: Real, broker: Any, connection: Connection, frame: bytes, now: int
        ) -> list[Effect]:
            before = broker.unreadable
            effects: list[Effect] = real(connection, frame, now)
            if broker.unreadable > before:
                change(broker, now)
            return effects

        return notices

    return added


def at_every_500th_answer(switch: str) -> Callable[[Callable[[bytes], bytes]], Real]:
    """Have `change(frame)` made of every 500th answer."""
    counter(switch)

    def added(change: Callable[[bytes], bytes]) -> Real:
        @defect(switch, Broker, "receive")
        def spoils(real: Real, broker: Any, *args: Any) -> list[Effect]:
            effects: list[Effect] = real(*args)
            for at, effect in enumerate(effects):
                if type(effect) is Reply:
                    broker.answers += 1
                    if broker.answers % 500 == 0:
                        spoiled = change(b"".join(effect.parts))
                        effects[at] = Reply(effect.connection, (spoiled,))
            return effects

        return spoils

    return added


# --------------------------------------------------------------------- what comes in and goes out


@at_every_500th_answer("every-500th-correlation-id-wrong")
def correlation_id_wrong(frame: bytes) -> bytes:
    return ((int.from_bytes(frame[:4], "big") + 1) & 0xFFFFFFFF).to_bytes(4, "big") + frame[4:]


@at_every_500th_answer("every-500th-answer-longer")
def answer_longer(frame: bytes) -> bytes:
    return frame + b"\0"


@at_every_500th_answer("every-500th-answer-cut")
def answer_cut(frame: bytes) -> bytes:
    return frame[:-1]


@defect("unreadable-requests-unanswered", Broker, "_serve")
def unreadable_requests_unanswered(
    real: Real, _: Broker, connection: Connection, frame: bytes, now: int
) -> Any:
    effects = list(real(connection, frame, now))
    if len(effects) == 1 and type(effects[0]) is Close:
        return (Unmute(connection),)
    return effects


@defect("unreadable-requests-answered-minus-one", Broker, "_serve")
def unreadable_requests_answered_minus_one(
    real: Real, _: Broker, connection: Connection, frame: bytes, now: int
) -> Any:
    effects = list(real(connection, frame, now))
    key, version, correlation_id = (
        int.from_bytes(frame[at:end], "big", signed=True) for at, end in ((0, 2), (2, 4), (4, 8))
    )
    closes = len(effects) == 1 and type(effects[0]) is Close
    if not closes or key not in API or not API[key].response.has(version):
        return effects
    if not any(row.name == "error_code" for row in API[key].response.fields):
        return effects
    body = {"error_code": ErrorCode.UNKNOWN_SERVER_ERROR}
    return (Reply(connection, (encode_response(key, version, correlation_id, body),)),)


counter("silent-after-40-unreadable")


@defect("silent-after-40-unreadable", Broker, "receive")
def silent_after_many(real: Real, broker: Any, *args: Any) -> list[Effect]:
    return [] if broker.unreadable >= MANY else real(*args)


# ------------------------------------------------------------------------------------------- logs


@defect("every-20th-crc-stored-wrong", PartitionLog, "_store")
def crc_stored_wrong(real: Real, log: Any, entries: list[Any], *args: Any) -> None:
    log.stored_so_far = getattr(log, "stored_so_far", 0) + 1
    if log.stored_so_far % 20 == 0:
        entries = [_with_another_crc(entry) for entry in entries]
    real(entries, *args)


def _with_another_crc(entry: Any) -> Any:
    data = bytearray(entry.data)
    data[17] ^= 0x55  # the first byte of the CRC of a batch
    return replace(entry, data=bytes(data))


@defect("half-the-log-lost-on-restart", Replicas, "_open")
def half_the_log_lost(real: Real, _: Replicas, state: Any, now: int) -> Any:
    replica = real(state, now)
    if replica.log.log_end_offset:
        replica.log.truncate_to(replica.log.log_end_offset // 2, now)
    return replica


counter("cleaner-ends-at-an-unreadable-request")


@defect("cleaner-ends-at-an-unreadable-request", LogManager, "_next")
def cleaner_ends(real: Real, manager: Any, now: int) -> Any:
    return None if manager._broker.unreadable else real(now)


@defect("every-10th-batch-stored-twice", PartitionLog, "append")
def batch_stored_twice(real: Real, log: Any, records: bytes, **named: Any) -> AppendResult:
    result: AppendResult = real(records, **named)
    if named.get("origin", CLIENT) == CLIENT:
        log.appended_so_far = getattr(log, "appended_so_far", 0) + 1
        if log.appended_so_far % 10 == 0:
            real(records, **named)
    return result


# ----------------------------------------------------------------- coordinators and the controller

counter("heartbeats-refused-after-40-unreadable")
counter("leaders-change-at-40-unreadable")


@handler_defect("heartbeats-refused-after-40-unreadable", HEARTBEAT)
def heartbeats_refused(real: Real, broker: Any, request: Request, now: int) -> Any:
    if broker.unreadable >= MANY:
        return {"error_code": ErrorCode.UNKNOWN_MEMBER_ID}
    return real(request, now)


@handler_defect("leaders-change-at-40-unreadable", METADATA)
def leaders_change(real: Real, broker: Any, request: Request, now: int) -> Any:
    answer = real(request, now)
    for topic in answer["topics"] if broker.unreadable >= MANY else ():
        for row in topic["partitions"]:
            row["leader_epoch"] = row.get("leader_epoch", 0) + 1
    return answer


# -------------------------------------------------------------------------- what a process holds


def at_new_connection(switch: str) -> Callable[[Callable[[Any, Connection], bool]], Real]:
    """Have `change(broker, connection)` say at a connection's first request if it is served."""
    counter(switch)

    def added(change: Callable[[Any, Connection], bool]) -> Real:
        @defect(switch, Broker, "receive")
        def notices(
            real: Real, broker: Any, connection: Connection, frame: bytes, now: int
        ) -> list[Effect]:
            if connection.id not in broker.kept:
                broker.kept[connection.id] = None
                if not change(broker, connection):
                    return [Close(connection, "no more of them")]
            return real(connection, frame, now)

        return notices

    return added


@at_new_connection("sockets-kept")
def sockets_kept(broker: Any, connection: Any) -> bool:
    with suppress(OSError, AttributeError):  # no descriptors left; a peer of this process
        os.dup(connection.sock.fileno())
    return True


@at_new_connection("500-connections-and-no-more")
def connections_and_no_more(broker: Any, connection: Connection) -> bool:
    return len(broker.kept) <= 500


@at_new_connection("memory-kept-per-connection")
def memory_kept_per_connection(broker: Any, connection: Connection) -> bool:
    broker.kept[connection.id] = bytes([1]) * (128 * KIB)
    return True


@at_unreadable("a-file-left-open-per-unreadable")
def a_file_left_open(broker: Any, now: int) -> None:
    with suppress(OSError):
        os.open(os.devnull, os.O_RDONLY)


@at_unreadable("memory-kept-per-unreadable")
def memory_kept_per_unreadable(broker: Any, now: int) -> None:
    broker.kept[broker.unreadable] = bytes([1]) * (256 * KIB)


@at_unreadable("a-page-logged-per-unreadable")
def a_page_logged_per_unreadable(broker: Any, now: int) -> None:
    LOG.error("cannot read a request %s", "." * 16 * KIB)


@at_unreadable("a-timer-left-per-unreadable")
def a_timer_left(broker: Any, now: int) -> None:
    key = ("left", broker.unreadable)

    def again(at: int) -> None:
        broker.purgatory.remind(key, at + 1, again)

    again(now)


counter("memory-kept-per-request")
counter("a-page-logged-per-request")
counter("slower-with-each-unreadable")


@defect("memory-kept-per-request", Broker, "receive")
def memory_kept_per_request(real: Real, broker: Any, *args: Any) -> list[Effect]:
    broker.kept[len(broker.kept)] = bytes([1]) * (32 * KIB)
    return real(*args)


@defect("a-page-logged-per-request", Broker, "receive")
def a_page_logged_per_request(real: Real, broker: Any, *args: Any) -> list[Effect]:
    LOG.error("received a request %s", "." * 4 * KIB)
    return real(*args)


@defect("slower-with-each-unreadable", Broker, "receive")
def slower_with_each_unreadable(real: Real, broker: Any, *args: Any) -> list[Effect]:
    for _ in range(broker.unreadable * 50_000):
        pass
    return real(*args)
