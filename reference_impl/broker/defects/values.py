"""Defects that one value, one order of requests or one codec shows, and nothing else.

`faults/value_faults.py` lists them. They stand for what a fuzzer that draws at random misses: a
field that is null in every valid request, one edge of one field, a state three requests deep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.defects.planting import defect, handler_defect, setting
from touchstone.reference_impl.broker.effects import Effect, Reply, Request, Wait, waiting
from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.log.validation import Validator
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.schema import Struct

Real = Callable[..., Any]
PRODUCE, FETCH, LIST_OFFSETS, METADATA, OFFSET_COMMIT = 0, 1, 2, 3, 8
JOIN_GROUP, LIST_GROUPS, DELETE_TOPICS, LEADER_EPOCHS, END_TXN = 11, 16, 20, 23, 26
DESCRIBE_CONFIGS, DELETE_GROUPS, DESCRIBE_TOPIC_PARTITIONS, STREAMS_HEARTBEAT = 32, 42, 75, 88
LZ4, ZSTD, CODEC_BITS, MAGIC_AT, ATTRIBUTES_AT = 3, 4, 7, 16, 21
HIGHEST_32, LOWEST_32 = 2**31 - 1, -(2**31)
MIB = 1 << 20


class Ends(SystemExit):
    """What a handler must not let out: it ends the process."""


def raises(
    error: type[BaseException], switch: str, key: int
) -> Callable[[Callable[[Struct], bool]], object]:
    """Have the handler raise at a request of this API whose body is so."""

    def added(is_so: Callable[[Struct], bool]) -> object:
        @handler_defect(switch, key)
        def raising(real: Real, broker: Any, request: Request, now: int) -> Any:
            if is_so(request.body):
                raise error(f"planted: {switch}")
            return real(request, now)

        return raising

    return added


ends, fails = partial(raises, Ends), partial(raises, RuntimeError)


def rows(body: Struct, *names: str) -> Iterable[Struct]:
    """The structs at this path of arrays."""
    found: list[Struct] = [body]
    for name in names:
        found = [inner for one in found for inner in one.get(name) or ()]
    return found


# ---------------------------------------------------------- fields that are null where all is well


@ends("ends-at-a-cursor-of-the-lowest-partition", DESCRIBE_TOPIC_PARTITIONS)
def cursor_of_the_lowest(body: Struct) -> bool:
    return (body["cursor"] or {}).get("partition_index") == LOWEST_32


@ends("ends-at-a-forgotten-partition-of-the-highest", FETCH)
def forgotten_partition_of_the_highest(body: Struct) -> bool:
    return any(HIGHEST_32 in one["partitions"] for one in rows(body, "forgotten_topics_data"))


@ends("ends-at-an-endpoint-of-port-0", STREAMS_HEARTBEAT)
def endpoint_of_port_0(body: Struct) -> bool:
    return (body["user_endpoint"] or {}).get("port") == 0


# ------------------------------------------------------------------------ one field at one edge


@ends("ends-at-a-timestamp-of-2-to-62", LIST_OFFSETS)
def timestamp_of_2_to_62(body: Struct) -> bool:
    return any(row["timestamp"] == 2**62 for row in rows(body, "topics", "partitions"))


@ends("ends-at-an-epoch-next-to-the-highest", LEADER_EPOCHS)
def epoch_next_to_the_highest(body: Struct) -> bool:
    return any(row["leader_epoch"] == HIGHEST_32 - 1 for row in rows(body, "topics", "partitions"))


@ends("ends-at-a-committed-offset-of-128", OFFSET_COMMIT)
def committed_offset_of_128(body: Struct) -> bool:
    return any(row["committed_offset"] == 128 for row in rows(body, "topics", "partitions"))


# ------------------------------------------------------------------- exceptions that are answered


@fails("a-fetch-of-one-byte-fails", FETCH)
def fetch_of_one_byte(body: Struct) -> bool:
    return body.get("max_bytes") == 1


@fails("an-offset-of-an-epoch-fails", LIST_OFFSETS)
def offset_of_an_epoch(body: Struct) -> bool:
    return any(row.get("current_leader_epoch") == 0 for row in rows(body, "topics", "partitions"))


@fails("a-join-of-the-lowest-timeout-fails", JOIN_GROUP)
def join_of_the_lowest_timeout(body: Struct) -> bool:
    return body["session_timeout_ms"] == LOWEST_32


@handler_defect("a-join-of-no-timeout-is-never-answered", JOIN_GROUP)
def join_is_never_answered(real: Real, _: Broker, request: Request, now: int) -> Struct | Wait:
    if request.body["session_timeout_ms"] == 0:
        never: Ticket[Struct] = Ticket()
        return waiting(never, dict)
    return real(request, now)


# --------------------------------------------------------------------------------- one codec's CRC


def unchecked(switch: str, codec: int) -> None:
    """Have the CRC of batches of this codec not be looked at."""

    @defect(switch, Validator, "_check_crc")
    def not_checked(real: Real, _: Any, records: bytes, pos: int, size: int, magic: int) -> None:
        if magic < 2 or records[pos + ATTRIBUTES_AT + 1] & CODEC_BITS != codec:
            real(records, pos, size, magic)


unchecked("crc-of-lz4-not-checked", LZ4)
unchecked("crc-of-zstd-not-checked", ZSTD)


# -------------------------------------------------------------------------- what concerns others


@defect("answers-that-waited-are-exchanged", Broker, "receive")
def answers_exchanged(real: Real, _: Any, *args: Any) -> list[Effect]:
    effects: list[Effect] = real(*args)
    waited = [at for at, one in enumerate(effects) if type(one) is Reply]
    if len(waited) > 1:
        first, second = effects[waited[0]], effects[waited[-1]]
        assert isinstance(first, Reply) and isinstance(second, Reply)
        effects[waited[0]] = Reply(first.connection, second.parts)
        effects[waited[-1]] = Reply(second.connection, first.parts)
    return effects


@handler_defect("a-deletion-without-a-name-deletes-another", DELETE_TOPICS)
def deletes_another(real: Real, broker: Any, request: Request, now: int) -> Any:
    for row in request.body.get("topics") or ():
        if row["name"] is None and not any(row["topic_id"]):
            row["name"] = max(broker.cluster.topics, default=None)
    return real(request, now)


@handler_defect("a-group-without-a-name-is-all-groups", DELETE_GROUPS)
def deletes_all_groups(real: Real, broker: Any, request: Request, now: int) -> Any:
    names = request.body["groups_names"]
    if "" in names:
        names.extend(broker.room(Groups).coordinator.groups)
    return real(request, now)


@defect("a-refused-batch-removes-the-last-one", PartitionLog, "append")
def removes_the_last_one(real: Real, log: Any, records: bytes, **named: Any) -> Any:
    try:
        return real(records, **named)
    except LogError:
        log.truncate_to(max(log.log_start_offset, log.log_end_offset - 1), named["now"])
        raise


# ------------------------------------------------------------------------------- memory and time


@handler_defect("64-kib-kept-per-list-of-groups", LIST_GROUPS)
def kept_per_list(real: Real, broker: Any, request: Request, now: int) -> Any:
    broker.kept_for_lists.append(bytes([1]) * 65_536)
    return real(request, now)


@setting("64-kib-kept-per-list-of-groups", Broker)
def begins_to_keep(broker: Any) -> None:
    broker.kept_for_lists = []


@handler_defect("a-limit-is-reserved", DESCRIBE_TOPIC_PARTITIONS)
def limit_is_reserved(real: Real, _: Broker, request: Request, now: int) -> Any:
    """Room for each partition that may be answered, though there is one."""
    reserved = bytearray(b"\1") * min(max(request.body["response_partition_limit"], 0), 768 * MIB)
    answer = real(request, now)
    del reserved
    return answer


@handler_defect("described-configs-are-quadratic", DESCRIBE_CONFIGS)
def quadratic(real: Real, broker: Broker, request: Request, now: int) -> Any:
    for _ in range(len(request.body["resources"]) ** 2 * 2_000):
        pass
    return real(request, now)


# ----------------------------------------------------------------------------- what takes an order


def remembering(switch: str, key: int) -> Callable[[Callable[[dict[Any, int], Struct], bool]], Any]:
    """Have the process end at a request for which `is_so(memory, body)` holds."""

    @setting(switch, Broker)
    def begins(broker: Any) -> None:
        broker.remembered = {}

    def added(is_so: Callable[[dict[Any, int], Struct], bool]) -> Any:
        @handler_defect(switch, key)
        def dies(real: Real, broker: Any, request: Request, now: int) -> Any:
            if is_so(broker.remembered, request.body):
                raise Ends(f"planted: {switch}")
            return real(request, now)

        return dies

    return added


@remembering("ends-at-a-session-that-was-closed", FETCH)
def session_that_was_closed(memory: dict[Any, int], body: Struct) -> bool:
    number, epoch = body.get("session_id", 0), body.get("session_epoch", -1)
    if number > 0 and epoch == -1:
        memory[number] = 1
    return epoch > 0 and number in memory


@remembering("ends-at-the-third-transaction", END_TXN)
def third_transaction(memory: dict[Any, int], body: Struct) -> bool:
    who = body["producer_id"]
    memory[who] = memory.get(who, 0) + 1
    return memory[who] == 3


@remembering("ends-when-a-static-member-joins-again", JOIN_GROUP)
def static_member_joins_again(memory: dict[Any, int], body: Struct) -> bool:
    who = body.get("group_instance_id")
    if not who or body["member_id"]:
        return False
    memory[who] = memory.get(who, 0) + 1
    return memory[who] == 2
