"""Requests of every API about what may be allowed and what not: names that exist and that do not.

A name that begins with "open" is what a test may allow, one with "shut" never. A request leaves the
cluster as it is, or is answered alike whenever it comes; where a version has no other way to do
nothing, an argument is wrong that is looked at after the right to do it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from touchstone.reference_impl.wire import records

Body = dict[str, Any]
Ids = Callable[[str], bytes]  # the id of a topic, one that nobody has for a topic that is not there
Make = Callable[[int, Ids], Iterator[Body]]  # in this version
TOPICS = ("open", "shut")  # with one partition each
GROUPS = ("open", "shut", "open-none")  # also of transactional ids
MEMBER = "AAAAAAAAQACAAAAAAAAAAQ"
NAMES = ("open", "shut", "open-none", "shut-none")
DOOMED = ("open-doomed", "shut-doomed")
UNFIT = ("open#none", "shut#none")  # no topic can have such a name
NOBODY, FAR = 77, 5  # a producer id that nobody has; a partition that is not there
SET = records.build(1, [b"x"])
BATCH = records.build(2, [b"x"])
IDEMPOTENT = records.build(2, [b"x"], producer_id=NOBODY, producer_epoch=0, base_sequence=0)
TRANSACTIONAL = records.build(
    2, [b"x"], producer_id=NOBODY, producer_epoch=0, base_sequence=0, transactional=True
)
NO_ID = bytes(16)


def _topics(ids: Ids, rows: str, row: Any, *, name: str = "name", names=NAMES) -> list[Body]:
    return [{name: each, "topic_id": ids(each), rows: [row]} for each in names]


def produce(version: int, ids: Ids) -> Iterator[Body]:
    kinds = [(None, BATCH if version >= 3 else SET)]
    if version >= 3:
        kinds += [(None, IDEMPOTENT), ("open", TRANSACTIONAL), ("shut", TRANSACTIONAL)]
    for transactional, batch in kinds:
        row = {"index": FAR, "records": batch}
        yield {"transactional_id": transactional, "acks": 1, "timeout_ms": 1000,
               "topic_data": _topics(ids, "partition_data", row)}  # fmt: skip
    yield {"transactional_id": None, "acks": 1, "timeout_ms": 1000, "topic_data": _topics(
        ids, "partition_data", {"index": 0, "records": kinds[0][1]}, names=TOPICS)}  # fmt: skip


def fetch(version: int, ids: Ids) -> Iterator[Body]:
    row = {"partition": 0, "fetch_offset": 1 << 40, "partition_max_bytes": 1000}
    for replica in (-1, 9):
        yield {"replica_id": replica, "max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1000,
               "session_id": 0, "session_epoch": -1, "forgotten_topics_data": [],
               "replica_state": {"replica_id": replica, "replica_epoch": -1},
               "topics": _topics(ids, "partitions", row, name="topic")}  # fmt: skip


def list_offsets(version: int, ids: Ids) -> Iterator[Body]:
    row = {"partition_index": 0, "timestamp": -2, "max_num_offsets": 1,
           "current_leader_epoch": -1}  # fmt: skip
    yield {"replica_id": -1, "topics": _topics(ids, "partitions", row)}


def metadata(version: int, ids: Ids) -> Iterator[Body]:
    told = {"include_cluster_authorized_operations": True,
            "include_topic_authorized_operations": True}  # fmt: skip
    names = [{"name": each, "topic_id": NO_ID} for each in (*NAMES, *UNFIT)]
    if version == 0 or version >= 4:
        quiet = {"allow_auto_topic_creation": False, **told}
        yield {"topics": None if version else [], **quiet}
    if version >= 4:
        yield {"topics": names, "allow_auto_topic_creation": False, **told}
    yield {"topics": [each for each in names if "none" not in each["name"] or "#" in each["name"]],
           "allow_auto_topic_creation": True, **told}  # fmt: skip
    if version >= 12:
        by_id = [{"name": None, "topic_id": ids(each)} for each in NAMES]
        yield {"topics": by_id, "allow_auto_topic_creation": False, **told}


def leader_and_isr(version: int, ids: Ids) -> Iterator[Body]:
    yield {"controller_id": 0, "controller_epoch": 0, "broker_epoch": -1, "topic_states": [],
           "ungrouped_partition_states": [], "live_leaders": []}  # fmt: skip


def stop_replica(version: int, ids: Ids) -> Iterator[Body]:
    yield {"controller_id": 0, "controller_epoch": 0, "delete_partitions": False, "topics": [],
           "ungrouped_partitions": [], "topic_states": []}  # fmt: skip


def update_metadata(version: int, ids: Ids) -> Iterator[Body]:
    yield {"controller_id": 0, "controller_epoch": 0, "topic_states": [], "live_brokers": [],
           "ungrouped_partition_states": []}  # fmt: skip


def controlled_shutdown(version: int, ids: Ids) -> Iterator[Body]:
    yield {"broker_id": 99}


def offset_commit(version: int, ids: Ids) -> Iterator[Body]:
    row = {"partition_index": FAR, "committed_offset": 1, "committed_leader_epoch": -1,
           "committed_metadata": "", "commit_timestamp": -1}  # fmt: skip
    for group in GROUPS:
        yield {"group_id": group, "generation_id_or_member_epoch": -1, "member_id": "",
               "retention_time_ms": -1, "topics": _topics(ids, "partitions", row)}  # fmt: skip


def offset_fetch(version: int, ids: Ids) -> Iterator[Body]:
    topics = [{"name": each, "topic_id": ids(each), "partition_indexes": [0]} for each in NAMES]
    if version >= 8:
        groups = [{"group_id": each, "topics": rows} for each in GROUPS for rows in (topics, None)]
        yield {"groups": groups, "require_stable": False}
        return
    for group in GROUPS:
        yield {"group_id": group, "topics": topics, "require_stable": False}
        if version >= 2:
            yield {"group_id": group, "topics": None, "require_stable": False}


def find_coordinator(version: int, ids: Ids) -> Iterator[Body]:
    kinds = (0, 1) if version else (0,)
    for kind in kinds:
        if version >= 4:
            yield {"key_type": kind, "coordinator_keys": list(GROUPS)}
        else:
            yield from ({"key": each, "key_type": kind} for each in GROUPS)


def join_group(version: int, ids: Ids) -> Iterator[Body]:
    for group in GROUPS:
        yield {"group_id": group, "session_timeout_ms": 1, "rebalance_timeout_ms": 1,
               "member_id": "", "protocol_type": "consumer",
               "protocols": [{"name": "range", "metadata": b""}]}  # fmt: skip


def of_member(version: int, ids: Ids) -> Iterator[Body]:
    """Heartbeat, SyncGroup, LeaveGroup."""
    members = [{"member_id": "nobody", "group_instance_id": None}]
    for group in GROUPS:
        yield {"group_id": group, "generation_id": 1, "member_id": "nobody", "members": members,
               "assignments": [], "protocol_type": "consumer",
               "protocol_name": "range"}  # fmt: skip


def describe_groups(version: int, ids: Ids) -> Iterator[Body]:
    yield {"groups": list(GROUPS), "include_authorized_operations": True}


def list_groups(version: int, ids: Ids) -> Iterator[Body]:
    yield {"states_filter": [], "types_filter": []}


def create_topics(version: int, ids: Ids) -> Iterator[Body]:
    few = 0 if version == 0 else 1
    rows = [{"name": each, "num_partitions": few, "replication_factor": 1, "assignments": [],
             "configs": []} for each in NAMES]  # fmt: skip
    yield {"topics": rows, "timeout_ms": 1000, "validate_only": version > 0}
    yield {"topics": [*rows, rows[-1], {**rows[0], "name": "__cluster_metadata"}],
           "timeout_ms": 1000, "validate_only": version > 0}  # fmt: skip


def delete_topics(version: int, ids: Ids) -> Iterator[Body]:
    names = [*DOOMED, "open-none", "shut-none"]
    rows = [{"name": each, "topic_id": NO_ID} for each in names]
    yield {"topic_names": names, "topics": rows, "timeout_ms": 15_000}
    if version >= 6:
        by_id = [{"name": None, "topic_id": ids(each)} for each in names]
        yield {"topics": by_id, "timeout_ms": 15_000}


def delete_records(version: int, ids: Ids) -> Iterator[Body]:
    row = {"partition_index": 0, "offset": 0}
    yield {"topics": _topics(ids, "partitions", row), "timeout_ms": 1000}


def init_producer_id(version: int, ids: Ids) -> Iterator[Body]:
    for name in (None, *GROUPS):
        yield {"transactional_id": name, "transaction_timeout_ms": 0 if name else 1000,
               "producer_id": -1, "producer_epoch": -1}  # fmt: skip


def epochs(version: int, ids: Ids) -> Iterator[Body]:
    row = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}
    yield {"replica_id": -1, "topics": _topics(ids, "partitions", row, name="topic")}


def add_partitions(version: int, ids: Ids) -> Iterator[Body]:
    for wanted in (("open",), ("open", "shut"), NAMES):
        topics = [{"name": each, "partitions": [0]} for each in wanted]
        for name in ("open", "shut"):
            old = {"transactional_id": name, "producer_id": NOBODY, "producer_epoch": 0,
                   "topics": topics}  # fmt: skip
            batched = [{**old, "verify_only": True}]
            yield {**{f"v3_and_below_{key}": value for key, value in old.items()},
                   "transactions": batched}  # fmt: skip


def of_transaction(version: int, ids: Ids) -> Iterator[Body]:
    """AddOffsetsToTxn, EndTxn."""
    for name, group in itertools.product(("open", "shut"), ("open", "shut")):
        yield {"transactional_id": name, "producer_id": NOBODY, "producer_epoch": 0,
               "group_id": group, "committed": False}  # fmt: skip


def txn_offset_commit(version: int, ids: Ids) -> Iterator[Body]:
    row = {"partition_index": FAR, "committed_offset": 1, "committed_leader_epoch": -1,
           "committed_metadata": ""}  # fmt: skip
    for name, group in itertools.product(("open", "shut"), ("open", "shut")):
        yield {"transactional_id": name, "group_id": group, "producer_id": NOBODY,
               "producer_epoch": 0, "generation_id": -1, "member_id": "",
               "topics": _topics(ids, "partitions", row)}  # fmt: skip


def markers(version: int, ids: Ids) -> Iterator[Body]:
    topics = [{"name": "open-none", "partition_indexes": [0]}]
    yield {"markers": [{"producer_id": NOBODY, "producer_epoch": 0, "transaction_result": False,
                        "topics": topics, "coordinator_epoch": 0}]}  # fmt: skip


def describe_acls(version: int, ids: Ids) -> Iterator[Body]:
    yield {"resource_type_filter": 2, "resource_name_filter": "open", "pattern_type_filter": 3,
           "principal_filter": None, "host_filter": None, "operation": 1,
           "permission_type": 1}  # fmt: skip


def create_acls(version: int, ids: Ids) -> Iterator[Body]:
    rows = [(2, "", "User:x"), (4, "other", "User:x")]
    yield {"creations": [
        {"resource_type": kind, "resource_name": name, "resource_pattern_type": 3,
         "principal": principal, "host": "*", "operation": 3, "permission_type": 3}
        for kind, name, principal in rows
    ]}  # fmt: skip


def delete_acls(version: int, ids: Ids) -> Iterator[Body]:
    yield {"filters": [
        {"resource_type_filter": 2, "resource_name_filter": "nothing", "pattern_type_filter": 3,
         "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1}
    ]}  # fmt: skip


def _resources(version: int) -> list[Body]:
    named = [*((2, each) for each in NAMES), (4, "0")]
    return [{"resource_type": kind, "resource_name": name, "configuration_keys": ["nothing"],
             "configs": []} for kind, name in named]  # fmt: skip


def configs(version: int, ids: Ids) -> Iterator[Body]:
    """DescribeConfigs, AlterConfigs, IncrementalAlterConfigs."""
    yield {"resources": _resources(version), "validate_only": True}


def configs_of_groups(version: int, ids: Ids) -> Iterator[Body]:
    yield from configs(version, ids)
    if version:
        rows = [{"resource_type": 32, "resource_name": each, "configuration_keys": ["nothing"],
                 "configs": []} for each in GROUPS]  # fmt: skip
        yield {"resources": rows, "validate_only": True}


def alter_log_dirs(version: int, ids: Ids) -> Iterator[Body]:
    topics = [{"name": each, "partitions": [0]} for each in TOPICS]
    yield {"dirs": [{"path": "/nowhere", "topics": topics}]}


def describe_log_dirs(version: int, ids: Ids) -> Iterator[Body]:
    yield {"topics": [{"topic": each, "partitions": [0]} for each in TOPICS]}


def create_partitions(version: int, ids: Ids) -> Iterator[Body]:
    rows = [{"name": each, "count": 2, "assignments": None} for each in NAMES]
    yield {"topics": rows, "timeout_ms": 1000, "validate_only": True}


def delete_groups(version: int, ids: Ids) -> Iterator[Body]:
    yield {"groups_names": ["open-none", "shut-none"]}


def elect_leaders(version: int, ids: Ids) -> Iterator[Body]:
    rows = [{"topic": each, "partitions": [0]} for each in TOPICS]
    yield {"election_type": 0, "topic_partitions": rows, "timeout_ms": 1000}


def reassignments(version: int, ids: Ids) -> Iterator[Body]:
    """AlterPartitionReassignments."""
    row = {"partition_index": 0, "replicas": None}
    yield {"timeout_ms": 1000, "allow_replication_factor_change": True,
           "topics": [{"name": each, "partitions": [row]} for each in TOPICS]}  # fmt: skip


def list_reassignments(version: int, ids: Ids) -> Iterator[Body]:
    yield {"timeout_ms": 1000, "topics": None}


def offset_delete(version: int, ids: Ids) -> Iterator[Body]:
    row = {"partition_index": FAR}
    for group in GROUPS:
        yield {"group_id": group, "topics": _topics(ids, "partitions", row)}


def describe_quotas(version: int, ids: Ids) -> Iterator[Body]:
    yield {"components": [], "strict": False}


def alter_quotas(version: int, ids: Ids) -> Iterator[Body]:
    entity = [{"entity_type": "user", "entity_name": "somebody"}]
    ops = [{"key": "producer_byte_rate", "value": 1.0, "remove": False}]
    yield {"entries": [{"entity": entity, "ops": ops}], "validate_only": True}


def describe_scram(version: int, ids: Ids) -> Iterator[Body]:
    yield {"users": [{"name": "nobody"}]}


def alter_scram(version: int, ids: Ids) -> Iterator[Body]:
    yield {"deletions": [{"name": "nobody", "mechanism": 1}], "upsertions": []}


def describe_quorum(version: int, ids: Ids) -> Iterator[Body]:
    partitions = [{"partition_index": 0}]
    yield {"topics": [{"topic_name": "__cluster_metadata", "partitions": partitions}]}


def alter_partition(version: int, ids: Ids) -> Iterator[Body]:
    yield {"broker_id": 99, "broker_epoch": -1, "topics": []}


def update_features(version: int, ids: Ids) -> Iterator[Body]:
    updates = [{"feature": "no.such.feature", "max_version_level": 1, "upgrade_type": 1,
                "allow_downgrade": False}]  # fmt: skip
    yield {"timeout_ms": 1000, "feature_updates": updates, "validate_only": True}


def describe_cluster(version: int, ids: Ids) -> Iterator[Body]:
    yield {"include_cluster_authorized_operations": True, "endpoint_type": 1}


def describe_producers(version: int, ids: Ids) -> Iterator[Body]:
    rows = [{"name": each, "partition_indexes": [0]} for each in (*NAMES, *UNFIT)]
    yield {"topics": rows}


def unregister_broker(version: int, ids: Ids) -> Iterator[Body]:
    yield {"broker_id": 99}


def describe_transactions(version: int, ids: Ids) -> Iterator[Body]:
    yield {"transactional_ids": list(GROUPS)}


def list_transactions(version: int, ids: Ids) -> Iterator[Body]:
    yield {"state_filters": [], "producer_id_filters": [], "duration_filter": -1}


def consumer_heartbeat(version: int, ids: Ids) -> Iterator[Body]:
    """ConsumerGroupHeartbeat, ShareGroupHeartbeat; nobody is a member of any epoch but 0."""
    for group, topic in itertools.product(GROUPS, (None, "open", "shut", "open-none")):
        yield {"group_id": group, "member_id": "nobody", "member_epoch": FAR,
               "subscribed_topic_names": [topic] if topic else None}  # fmt: skip


def streams_heartbeat(version: int, ids: Ids) -> Iterator[Body]:
    """Whose topics are looked at before the group: sources, and internal ones, which it creates."""
    known = [{"name": name, "partitions": 0, "replication_factor": 0, "topic_configs": []}
             for name in ("open", "shut-none")]  # fmt: skip
    for group, topic in itertools.product(GROUPS, (None, *NAMES, *UNFIT)):
        for internal in ([], *([each] for each in known if topic == "open")):
            parts = [{"subtopology_id": "0", "source_topics": [topic], "source_topic_regex": [],
                      "state_changelog_topics": internal, "repartition_sink_topics": [],
                      "repartition_source_topics": [], "copartition_groups": []}]  # fmt: skip
            yield {"group_id": group, "member_id": "nobody", "member_epoch": FAR,
                   "endpoint_information_epoch": 0,
                   "topology": {"epoch": 0, "subtopologies": parts} if topic else None}  # fmt: skip


def describe_members(version: int, ids: Ids) -> Iterator[Body]:
    yield {"group_ids": list(GROUPS), "include_authorized_operations": True}


def list_config_resources(version: int, ids: Ids) -> Iterator[Body]:
    yield {"resource_types": []}


def describe_topic_partitions(version: int, ids: Ids) -> Iterator[Body]:
    rows = [{"name": each} for each in (*NAMES, *UNFIT)]
    yield {"topics": rows, "response_partition_limit": 100, "cursor": None}
    yield {"topics": [], "response_partition_limit": 100, "cursor": None}
    for name in ("open-none", "shut"):
        cursor = {"topic_name": name, "partition_index": 0}
        yield {"topics": rows, "response_partition_limit": 100, "cursor": cursor}


def share_fetch(version: int, ids: Ids) -> Iterator[Body]:
    """ShareFetch and ShareAcknowledge of a session that is not there."""
    topics = [{"topic_id": ids(each), "partitions": [
        {"partition_index": 0, "acknowledgement_batches": []}]} for each in TOPICS]  # fmt: skip
    for group in GROUPS:
        yield {"group_id": group, "member_id": MEMBER, "share_session_epoch": FAR,
               "max_wait_ms": 0, "min_bytes": 0, "max_records": 1, "batch_size": 1,
               "topics": topics, "forgotten_topics_data": []}  # fmt: skip


def raft_voter(version: int, ids: Ids) -> Iterator[Body]:
    yield {"cluster_id": "another", "timeout_ms": 1000, "voter_id": 99, "voter_directory_id": NO_ID,
           "listeners": []}  # fmt: skip


def share_state(version: int, ids: Ids) -> Iterator[Body]:
    """Initialize-, Read-, Write-, DeleteShareGroupState and the summary of one."""
    row = {"partition": 0, "state_epoch": -1, "leader_epoch": -1, "start_offset": -1,
           "state_batches": []}  # fmt: skip
    yield {"group_id": "open", "topics": [{"topic_id": NO_ID, "partitions": [row]}]}


def share_offsets(version: int, ids: Ids) -> Iterator[Body]:
    """DescribeShareGroupOffsets."""
    topics = [{"topic_name": each, "partitions": [0]} for each in NAMES]
    groups = [{"group_id": each, "topics": rows} for each in GROUPS for rows in (topics, None)]
    yield {"groups": groups}


def alter_share_offsets(version: int, ids: Ids) -> Iterator[Body]:
    """AlterShareGroupOffsets, DeleteShareGroupOffsets: of groups that are no share groups."""
    row = {"partition_index": FAR, "start_offset": 0}
    for group in ("shut-none", "open", "shut"):
        yield {"group_id": group,
               "topics": [{"topic_name": each, "partitions": [row]} for each in NAMES]}  # fmt: skip


def of_tokens(version: int, ids: Ids) -> Iterator[Body]:
    """Create-, Renew-, Expire-, DescribeDelegationToken, by somebody who has not logged in."""
    for owners in (None, [{"principal_type": "User", "principal_name": "x"}]):
        yield {"owners": owners, "renewers": [], "max_lifetime_ms": -1, "hmac": b"x",
               "renew_period_ms": -1, "expiry_time_period_ms": -1}  # fmt: skip


def of_logins(version: int, ids: Ids) -> Iterator[Body]:
    """SaslHandshake, SaslAuthenticate, ApiVersions, on a listener where nobody logs in."""
    yield {"mechanism": "PLAIN", "auth_bytes": b"\0a\0b", "client_software_name": "a",
           "client_software_version": "1"}  # fmt: skip


# Of each API key what is asked; one that stands here once is asked in every version.
REQUESTS: Mapping[int, Make] = {
    0: produce, 1: fetch, 2: list_offsets, 3: metadata, 4: leader_and_isr, 5: stop_replica,
    6: update_metadata, 7: controlled_shutdown, 8: offset_commit, 9: offset_fetch,
    10: find_coordinator, 11: join_group, 12: of_member, 13: of_member, 14: of_member,
    15: describe_groups, 16: list_groups, 17: of_logins, 18: of_logins, 19: create_topics,
    20: delete_topics,
    21: delete_records, 22: init_producer_id, 23: epochs, 24: add_partitions, 25: of_transaction,
    26: of_transaction, 27: markers, 28: txn_offset_commit, 29: describe_acls, 30: create_acls,
    31: delete_acls, 32: configs_of_groups, 33: configs, 34: alter_log_dirs,
    35: describe_log_dirs, 36: of_logins, 37: create_partitions, 38: of_tokens, 39: of_tokens,
    40: of_tokens, 41: of_tokens, 42: delete_groups, 43: elect_leaders,
    44: configs, 45: reassignments, 46: list_reassignments, 47: offset_delete,
    48: describe_quotas, 49: alter_quotas, 50: describe_scram, 51: alter_scram,
    55: describe_quorum, 56: alter_partition, 57: update_features, 60: describe_cluster,
    61: describe_producers, 64: unregister_broker, 65: describe_transactions,
    66: list_transactions, 68: consumer_heartbeat, 69: describe_members,
    74: list_config_resources, 75: describe_topic_partitions, 76: consumer_heartbeat,
    77: describe_members, 78: share_fetch, 79: share_fetch, 80: raft_voter, 81: raft_voter,
    83: share_state, 84: share_state, 85: share_state, 86: share_state, 87: share_state,
    88: streams_heartbeat, 89: describe_members, 90: share_offsets, 91: alter_share_offsets,
    92: alter_share_offsets,
}  # fmt: skip
