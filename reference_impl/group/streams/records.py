"""Streams groups as records of `__consumer_offsets`: what each change writes, and back.

A record per group epoch, topology and target epoch, and per member's metadata, target and current
assignment; a tombstone for each that went. Functions that write give entries (type, key, value), so
that an operation's records are one list in Kafka's order.

Sources: KIP-1071; StreamsCoordinatorRecordHelpers, GroupMetadataManager.replay@4.3.1;
compared with the records that 4.3.1 wrote for the same heartbeats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from touchstone.reference_impl.group.java_maps import timeline_order
from touchstone.reference_impl.group.streams.group import (
    LEAVE_EPOCH,
    UNVALIDATED,
    Endpoint,
    Entry,
    MemberState,
    StreamsGroup,
    StreamsMember,
)
from touchstone.reference_impl.group.streams.tasks import (
    KINDS,
    HeldTasks,
    Task,
    Tasks,
    of_rows,
    rows,
)
from touchstone.reference_impl.group.streams.topology import Topology
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded.streams_group_records import RECORDS
from touchstone.reference_impl.wire.schema import Struct

EPOCH, MEMBER, TARGET_EPOCH, TARGET, CURRENT, TOPOLOGY = 17, 19, 20, 21, 22, 23
_REVOKING = tuple(f"{kind}_pending_revocation" for kind in KINDS)


def epoch(group: StreamsGroup) -> Entry:
    value = {
        "epoch": group.epoch,
        "metadata_hash": group.hash,
        "validated_topology_epoch": group.validated_epoch,
        "last_assignment_configs": _pairs(group.configs),
    }
    return EPOCH, _of(group), value


def topology(group: StreamsGroup, told: Topology) -> Entry:
    return TOPOLOGY, _of(group), told.row()


def member(group: StreamsGroup, one: StreamsMember) -> Entry:
    endpoint = one.endpoint and {"host": one.endpoint.host, "port": one.endpoint.port}
    value = {
        "instance_id": None,
        "rack_id": one.rack_id,
        "client_id": one.client_id,
        "client_host": one.client_host,
        "rebalance_timeout_ms": one.rebalance_timeout,
        "topology_epoch": one.topology_epoch,
        "process_id": one.process_id,
        "user_endpoint": endpoint,
        "client_tags": _pairs(dict(sorted(one.tags.items()))),
    }
    return MEMBER, _of(group, one.id), value


def target_epoch(group: StreamsGroup) -> Entry:
    value = {
        "assignment_epoch": group.assignment_epoch,
        "assignment_timestamp": group.assigned_at,
    }
    return TARGET_EPOCH, _of(group), value


def target(group: StreamsGroup, member_id: str) -> Entry:
    told = zip(KINDS, group.target[member_id].of_kinds(), strict=True)
    return TARGET, _of(group, member_id), {kind: rows(tasks) for kind, tasks in told}


def current(group: StreamsGroup, one: StreamsMember) -> Entry:
    value: Struct = {
        "member_epoch": one.epoch,
        "previous_member_epoch": one.previous_epoch,
        "state": int(one.state),
    }
    for kinds, held in ((KINDS, one.assigned), (_REVOKING, one.revoking)):
        active, standby, warmup = kinds
        value[active] = [
            row
            | {
                "assignment_epochs": [
                    held.active[row["subtopology_id"], i] for i in row["partitions"]
                ]
            }
            for row in rows(held.active)
        ]
        value[standby], value[warmup] = rows(held.standby), rows(held.warmup)
    return CURRENT, _of(group, one.id), value


def member_gone(group: StreamsGroup, member_id: str) -> list[Entry]:
    return [(kind, _of(group, member_id), None) for kind in (CURRENT, TARGET, MEMBER)]


def group_tombstones(group: StreamsGroup) -> list[Entry]:
    """Tombstones for all that is kept of a group."""
    ids = timeline_order(group.members)
    return [
        *((CURRENT, _of(group, each), None) for each in ids),
        *((TARGET, _of(group, each), None) for each in ids),
        (TARGET_EPOCH, _of(group), None),
        *((MEMBER, _of(group, each), None) for each in ids),
        (EPOCH, _of(group), None),
        (TOPOLOGY, _of(group), None),
    ]


def encoded(entry: Entry) -> tuple[bytes, bytes | None]:
    """Key and value as they stand in the log."""
    kind, key, value = entry
    data = None if value is None else embedded.encode_value(RECORDS, kind, 0, value)
    return embedded.encode_key(RECORDS, kind, key), data


def replay(group: StreamsGroup, kind: int, key: Struct, value: Struct | None) -> bool:
    """Bring the group up to this record; whether it is still there."""
    if kind == EPOCH and value is None:
        return False
    _REPLAY[kind](group, key.get("member_id", ""), value)
    return True


def _of(group: StreamsGroup, member_id: str | None = None) -> Struct:
    key = {"group_id": group.id}
    return key if member_id is None else key | {"member_id": member_id}


def _pairs(known: dict[str, str]) -> list[Struct]:
    return [{"key": key, "value": value} for key, value in known.items()]


def _mapped(listed: list[Struct] | None) -> dict[str, str]:
    return {row["key"]: row["value"] for row in listed or ()}


# --- reading ---------------------------------------------------------------------------------


def _replay_epoch(group: StreamsGroup, _: str, value: Struct | None) -> None:
    if value is not None:
        group.epoch, group.hash = value["epoch"], value["metadata_hash"]
        group.validated_epoch = value.get("validated_topology_epoch", UNVALIDATED)
        group.configs = _mapped(value.get("last_assignment_configs"))


def _replay_topology(group: StreamsGroup, _: str, value: Struct | None) -> None:
    group.topology = None if value is None else Topology.of(value)


def _replay_target_epoch(group: StreamsGroup, _: str, value: Struct | None) -> None:
    group.assignment_epoch = -1 if value is None else value["assignment_epoch"]
    group.assigned_at = 0 if value is None else value.get("assignment_timestamp", 0)


def _replay_target(group: StreamsGroup, member_id: str, value: Struct | None) -> None:
    if value is None:
        group.target.pop(member_id, None)
    else:
        group.target[member_id] = Tasks(*(of_rows(value[kind]) for kind in KINDS))


def _replay_member(group: StreamsGroup, member_id: str, value: Struct | None) -> None:
    if value is None:
        group.remove(member_id)
        return
    endpoint = value["user_endpoint"]
    group.put(
        replace(
            group.members.get(member_id) or StreamsMember(member_id),
            rack_id=value["rack_id"],
            client_id=value["client_id"],
            client_host=value["client_host"],
            rebalance_timeout=value["rebalance_timeout_ms"],
            topology_epoch=value["topology_epoch"],
            process_id=value["process_id"],
            endpoint=None if endpoint is None else Endpoint(endpoint["host"], endpoint["port"]),
            tags=_mapped(value["client_tags"]),
        )
    )


def _replay_current(group: StreamsGroup, member_id: str, value: Struct | None) -> None:
    one = group.members.get(member_id)
    if value is not None:
        epoch = value["member_epoch"]
        group.put(
            replace(
                one or StreamsMember(member_id),
                epoch=epoch,
                previous_epoch=value["previous_member_epoch"],
                state=MemberState(value["state"]),
                assigned=_held(value, KINDS, epoch),
                revoking=_held(value, _REVOKING, epoch),
            )
        )
    elif one is not None:
        nothing = HeldTasks()
        group.put(one.walked_to(LEAVE_EPOCH, one.state, nothing, nothing))


def _held(value: Struct, kinds: tuple[str, ...], otherwise: int) -> HeldTasks:
    active: dict[Task, int] = {}
    for row in value[kinds[0]]:
        epochs = row.get("assignment_epochs") or [otherwise] * len(row["partitions"])
        for index, at in zip(row["partitions"], epochs, strict=True):
            active[row["subtopology_id"], index] = at
    return HeldTasks(active, of_rows(value[kinds[1]]), of_rows(value[kinds[2]]))


_REPLAY: dict[int, Callable[[StreamsGroup, str, Struct | None], None]] = {
    EPOCH: _replay_epoch,
    MEMBER: _replay_member,
    TARGET_EPOCH: _replay_target_epoch,
    TARGET: _replay_target,
    CURRENT: _replay_current,
    TOPOLOGY: _replay_topology,
}
