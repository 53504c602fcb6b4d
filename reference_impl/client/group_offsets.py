"""A group's offsets as flows: what is committed, and committing it.

An offset that is committed is the next one to read. Each request takes the newest version that has
what is asked of it; topics that the view has no id for are named, which ends at version 9.

Sources: OffsetCommitResponseHandler and OffsetFetchResponseHandler of ConsumerCoordinator at 4.3.1;
KIP-320 (leader epochs), KIP-447 (require_stable), KIP-709, KIP-848; clauses CONS-41, CONS-42,
CONS-46.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.errors import is_retriable
from touchstone.reference_impl.wire.schema import Struct

from .coordinator import MOVED, Coordinator
from .flow import ClientError, Failed, Flow, KafkaError, TopicPartition, Unreachable

_V_NAMES = 9  # the last version that names topics
_V_RETENTION = 2  # before it offsets had a time of their own, or were kept in ZooKeeper
_ELSEWHERE = MOVED | {E.REQUEST_TIMED_OUT}


class Offset(NamedTuple):
    """The next offset to read, with what the application wanted remembered about it."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""


class CommitFailed(ClientError):
    """The group went on without this member; what it read since will be read again by others."""


class RetriableCommitFailed(ClientError):
    """Perhaps not committed, and not tried again; a later commit may well succeed."""


class RebalanceInProgress(ClientError):
    """Not now: the group is being rebalanced. Poll, then commit what is still assigned."""


OffsetsToCommit = Mapping[TopicPartition, Offset | int]


def rows(offsets: OffsetsToCommit) -> list[Struct]:
    """Offsets as OffsetCommit and TxnOffsetCommit list them."""
    topics: dict[str, list[Struct]] = {}
    for (topic, partition), wanted in offsets.items():
        offset = wanted if isinstance(wanted, Offset) else Offset(wanted)
        topics.setdefault(topic, []).append(
            {
                "partition_index": partition,
                "committed_offset": offset.offset,
                "committed_leader_epoch": offset.leader_epoch,
                "committed_metadata": offset.metadata,
            }
        )
    return [{"name": name, "partitions": parts} for name, parts in topics.items()]


def first_error(body: Mapping[str, Any]) -> int:
    """Of an answer that has one code per partition."""
    codes = (part["error_code"] for topic in body["topics"] for part in topic["partitions"])
    return next((code for code in codes if code), E.NONE)


def commit(
    coordinator: Coordinator, identity: Mapping[str, Any], offsets: OffsetsToCommit, *, give_up: int
) -> Flow[int]:
    """Commit until it is through or refused for good; the code that is about the membership, or 0.

    `identity` names group, generation and member; a simple consumer's generation is -1.
    """
    answer = yield from coordinator.ask(
        "OffsetCommit",
        _commit_body(identity, offsets),
        give_up=give_up,
        code=first_error,
        again=(E.UNKNOWN_TOPIC_OR_PARTITION,),
        elsewhere=_ELSEWHERE,
        versions=(_V_RETENTION, _V_NAMES),
    )
    return first_error(answer.body)


def commit_once(
    coordinator: Coordinator, identity: Mapping[str, Any], offsets: OffsetsToCommit
) -> Flow[int]:
    """One try, for which a coordinator is looked up if need be (CONS-42); as `commit` otherwise.

    RetriableCommitFailed when nobody coordinates, nobody answers, or the answer is to try again.
    """
    about = f"OffsetCommit of group {coordinator.key}"
    try:
        outcome = yield from coordinator.once(
            "OffsetCommit", _commit_body(identity, offsets), versions=(_V_RETENTION, _V_NAMES)
        )
    except (KafkaError, Unreachable) as error:
        raise RetriableCommitFailed(f"{about}: no coordinator: {error}") from error
    if isinstance(outcome, Failed):
        raise RetriableCommitFailed(f"{about}: {Unreachable(outcome)}")
    code = first_error(outcome.body)
    if code in _ELSEWHERE:
        coordinator.forget()
    if is_retriable(code):
        raise RetriableCommitFailed(f"{KafkaError(code, about=about)}")
    return code


def _commit_body(identity: Mapping[str, Any], offsets: OffsetsToCommit) -> Struct:
    return {
        **{field: identity[field] for field in ("group_id", "member_id", "group_instance_id")},
        "generation_id_or_member_epoch": identity["generation_id"],
        "retention_time_ms": -1,
        "topics": rows(offsets),
    }


def committed(
    coordinator: Coordinator, places: Iterable[TopicPartition], *, give_up: int
) -> Flow[dict[TopicPartition, Offset]]:
    """What is committed of these; a partition without an offset is left out.

    Waits while a transaction has offsets of them pending, where brokers can say so (KIP-447).
    """
    topics: dict[str, list[int]] = {}
    for topic, partition in places:
        topics.setdefault(topic, []).append(partition)
    wanted = [{"name": name, "partition_indexes": parts} for name, parts in topics.items()]
    group: Struct = {"group_id": coordinator.key, "topics": wanted}
    answer = yield from coordinator.ask(
        "OffsetFetch",
        group | {"groups": [group], "require_stable": True},
        give_up=give_up,
        code=_fetch_error,
        again=(E.UNSTABLE_OFFSET_COMMIT,),
        versions=(1, _V_NAMES),
    )
    body = _of_group(answer.body)
    if code := _fetch_error(answer.body):
        raise KafkaError(code, about=f"OffsetFetch of group {coordinator.key}")
    return {
        (topic["name"], part["partition_index"]): Offset(
            part["committed_offset"], part.get("committed_leader_epoch", -1), part["metadata"] or ""
        )
        for topic in body["topics"]
        for part in topic["partitions"]
        if part["committed_offset"] >= 0
    }


def _of_group(body: Struct) -> Struct:
    return body["groups"][0] if body.get("groups") else body


def _fetch_error(body: Struct) -> int:
    of_group = _of_group(body)
    return of_group.get("error_code") or first_error(of_group)
