"""What every method of the admin client brings, on any cluster that keeps its settings; one walk
for each part. The reference broker and real Kafka are both asked (`harness/tests/clients`).
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.reference_impl.client.admin.acls import (
    AclBinding,
    AclFilter,
    AclOperation,
    ResourceType,
)
from touchstone.reference_impl.client.admin.configs import (
    AlterConfigOp,
    ConfigOp,
    ConfigResource,
    ConfigType,
)
from touchstone.reference_impl.client.admin.credentials import (
    ScramCredential,
    ScramDeletion,
    ScramMechanism,
    ScramUpsertion,
)
from touchstone.reference_impl.client.admin.groups import MemberToRemove
from touchstone.reference_impl.client.admin.quotas import QuotaFilter, quota_entity
from touchstone.reference_impl.client.admin.topics import NewTopic
from touchstone.reference_impl.client.flow import KafkaError
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.wire.errors import ErrorCode as E

Until = Callable[[Callable[[], bool]], None]


def code(error: object) -> int:
    assert isinstance(error, KafkaError), error
    return error.code


def topics(client: Client, name: str, until: Until) -> None:
    admin = client.admin
    made = admin.create_topics([NewTopic(name, 2), NewTopic("not/a/name")])
    assert made.succeeded().keys() == {name}
    assert code(made["not/a/name"]) == E.INVALID_TOPIC_EXCEPTION
    until(lambda: name in admin.list_topics())
    described = admin.describe_topics([name, f"{name}-missing"])
    assert [part.partition_index for part in described.succeeded()[name].partitions] == [0, 1]
    assert code(described[f"{name}-missing"]) == E.UNKNOWN_TOPIC_OR_PARTITION
    counts = admin.create_partitions({name: 3, f"{name}-missing": 3})
    assert counts[name] is None
    assert code(counts[f"{name}-missing"]) == E.UNKNOWN_TOPIC_OR_PARTITION
    until(lambda: len(admin.describe_topics([name]).all()[name].partitions) == 3)
    producer = client.producer()
    for number in range(5):
        producer.send(name, b"%d" % number, partition=0)
    producer.flush()
    assert admin.list_offsets({(name, 0): -1, (name, 1): -2}).all() == {
        (name, 0): (5, -1),
        (name, 1): (0, -1),
    }
    assert admin.delete_records({(name, 0): 3}).all() == {(name, 0): 3}
    assert admin.delete_topics([name]).all() == {name: None}


def settings(client: Client, name: str, until: Until) -> None:
    admin, resource = client.admin, ConfigResource(ConfigType.TOPIC, name)
    admin.create_topic(name)
    admin.alter_configs({resource: {"retention.ms": "7777"}}).all()

    def value(of: str) -> str | None:
        return admin.describe_configs([resource], [of]).all()[resource][of].value

    until(lambda: value("retention.ms") == "7777")
    broker = ConfigResource(ConfigType.BROKER, "0")
    assert "log.retention.hours" in admin.describe_configs([broker]).all()[broker]


def incremental_settings(client: Client, name: str, until: Until) -> None:
    admin, resource = client.admin, ConfigResource(ConfigType.TOPIC, name)
    admin.create_topic(name, configs={"cleanup.policy": "delete", "retention.ms": "1000"})
    changed = admin.incremental_alter_configs(
        {
            resource: [
                AlterConfigOp("cleanup.policy", "compact", ConfigOp.APPEND),
                AlterConfigOp("retention.ms", None, ConfigOp.DELETE),
            ]
        }
    )
    assert changed.all() == {resource: None}
    missing = ConfigResource(ConfigType.TOPIC, f"{name}-missing")
    found = admin.describe_configs([missing, resource])
    assert code(found[missing]) == E.UNKNOWN_TOPIC_OR_PARTITION
    assert resource in found.succeeded()

    def entries() -> tuple[str | None, str | None]:
        found = admin.describe_configs([resource]).all()[resource]
        return found["cleanup.policy"].value, found["retention.ms"].value

    until(lambda: entries() == ("delete,compact", "604800000"))


def access(client: Client, name: str, until: Until) -> None:
    admin = client.admin
    binding = AclBinding(ResourceType.TOPIC, name, "User:alice", AclOperation.READ)
    assert admin.create_acls([binding]).all() == {binding: None}
    of_topic = AclFilter(ResourceType.TOPIC, name)
    until(lambda: admin.describe_acls(of_topic) == [binding])
    (deleted,) = admin.delete_acls([of_topic]).all().values()
    assert deleted.all() == {binding: None}
    until(lambda: admin.describe_acls(of_topic) == [])


def no_access_control(client: Client) -> None:
    """A cluster without an authorizer says so."""
    binding = AclBinding(ResourceType.TOPIC, "t", "User:alice", AclOperation.READ)
    (error,) = client.admin.create_acls([binding]).values()
    assert code(error) == E.SECURITY_DISABLED


def quotas(client: Client, name: str, until: Until) -> None:
    admin, entity = client.admin, quota_entity({"user": name})
    admin.alter_client_quotas({entity: {"producer_byte_rate": 1000.0}}).all()
    mine = [QuotaFilter("user", name)]
    until(lambda: admin.describe_client_quotas(mine) == {entity: {"producer_byte_rate": 1000.0}})
    refused = admin.alter_client_quotas({entity: {"no_such_rate": 1.0}})
    assert code(refused[entity]) == E.INVALID_REQUEST
    admin.alter_client_quotas({entity: {"producer_byte_rate": None}}).all()
    until(lambda: admin.describe_client_quotas(mine) == {})


def credentials(client: Client, name: str, until: Until) -> None:
    admin, kind = client.admin, ScramMechanism.SCRAM_SHA_256
    salt = b"sixteen bytes it"
    changed = admin.alter_user_scram_credentials(
        [ScramUpsertion(name, kind, b"secret", salt), ScramDeletion(f"{name}-missing", kind)]
    )
    assert changed[name] is None
    assert code(changed[f"{name}-missing"]) == E.RESOURCE_NOT_FOUND

    def known() -> bool:
        found = admin.describe_user_scram_credentials([name])
        return found[name] == (ScramCredential(kind, 4096),)

    until(known)
    admin.alter_user_scram_credentials([ScramDeletion(name, kind)]).all()


def groups(client: Client, name: str, until: Until) -> None:
    """A classic group: its description, offsets, deletion."""
    admin = client.admin
    admin.create_topic(name, partitions=2)
    consumer = client.consumer(group=name, topics=[name], auto_commit_ms=None, max_wait_ms=50)
    until(lambda: consumer.poll() == [] and len(consumer.positions) == 2)
    consumer.commit({(name, 0): 0})
    listed = [row.group_id for rows in admin.list_groups().all().values() for row in rows]
    assert name in listed
    described = admin.describe_classic_groups([name]).all()[name]
    assert (described.group_state, described.assignor_name) == ("Stable", "range")
    (member,) = described.members
    assert member.owned == {(name, 0), (name, 1)}
    offsets = admin.list_group_offsets({name: None}).all()[name].all()
    assert {place: each.offset for place, each in offsets.items()} == {(name, 0): 0}
    refused = admin.delete_groups([name])
    assert code(refused[name]) == E.NON_EMPTY_GROUP
    consumer.close()
    admin.alter_group_offsets(name, {(name, 1): 7}).all()
    only = admin.list_group_offsets({name: [(name, 1)]}).all()[name].all()
    assert only[name, 1].offset == 7
    assert admin.delete_groups([name]).all() == {name: None}


def removed_members(client: Client, name: str, until: Until) -> None:
    admin = client.admin
    admin.create_topic(name, partitions=2)
    options = {"group": name, "topics": [name], "max_wait_ms": 50, "instance_id": "static"}
    consumer = client.consumer(**options)
    until(lambda: consumer.poll() == [] and len(consumer.positions) == 2)
    consumer.commit({(name, 0): 0})
    gone, unknown = MemberToRemove(instance_id="static"), MemberToRemove(instance_id="nobody")
    removed = admin.remove_members(name, [gone, unknown])
    assert removed[gone] is None
    assert code(removed[unknown]) == E.UNKNOWN_MEMBER_ID
    deleted = admin.delete_group_offsets(name, [(name, 0)])
    assert deleted.all() == {(name, 0): None}
    assert admin.list_group_offsets({name: None}).all()[name] == {}


def newer_groups(client: Client, name: str, until: Until) -> None:
    """KIP-848 groups, and that a classic one is described all the same."""
    admin = client.admin
    admin.create_topic(name, partitions=2)
    for group, protocol in ((name, "consumer"), (f"{name}-classic", "classic")):
        member = client.consumer(
            group=group, topics=[name], protocol=protocol, auto_commit_ms=None, max_wait_ms=50
        )
        until(lambda each=member: each.poll() == [] and len(each.positions) == 2)
    found = admin.describe_consumer_groups([name, f"{name}-classic"]).all()
    until(
        lambda: (
            admin.describe_consumer_groups([name]).all()[name].members[0].owned
            == {(name, 0), (name, 1)}
        )
    )
    assert found[name].group_epoch is not None
    assert found[f"{name}-classic"].group_epoch is None
    missing = admin.describe_share_groups(["missing"])
    assert code(missing["missing"]) == E.GROUP_ID_NOT_FOUND


def partitions(client: Client, name: str, until: Until) -> None:
    admin = client.admin
    admin.create_topic(name, assignments={0: [0]})
    assert admin.list_partition_reassignments([(name, 0)]) == {}
    moved = admin.alter_partition_reassignments({(name, 0): [0], (name, 9): [0]})
    assert moved[name, 0] is None
    assert code(moved[name, 9]) == E.UNKNOWN_TOPIC_OR_PARTITION
    cancelled = admin.alter_partition_reassignments({(name, 0): None})
    assert code(cancelled[name, 0]) == E.NO_REASSIGNMENT_IN_PROGRESS
    elected = admin.elect_leaders([(name, 0)])
    assert code(elected[name, 0]) == E.ELECTION_NOT_NEEDED
    dirs = admin.describe_log_dirs([0]).all()[0].all()
    assert any((name, 0) in each.replicas for each in dirs.values())


def producers(client: Client, name: str, until: Until) -> None:
    admin = client.admin
    admin.create_topic(name)
    producer = client.transactional_producer(name)
    producer.begin()
    producer.send(name, b"v")
    producer.flush()
    (state,) = admin.describe_producers([(name, 0)]).all()[name, 0]
    assert state.current_txn_start_offset == 0
    described = admin.describe_transactions([name, f"{name}-missing"])
    ours = described.succeeded()[name]
    assert (ours.transaction_state, ours.partitions) == ("Ongoing", {(name, 0)})
    assert code(described[f"{name}-missing"]) == E.TRANSACTIONAL_ID_NOT_FOUND
    listed = admin.list_transactions(["Ongoing"]).all()
    assert name in [row.transactional_id for rows in listed.values() for row in rows]
    fenced = admin.fence_producers([name]).all()[name]
    assert fenced.producer_id >= 0
    until(lambda: not open_at(client, name))


def hanging(client: Client, name: str, until: Until) -> None:
    """A transaction that is aborted without its coordinator."""
    client.admin.create_topic(name)
    producer = client.transactional_producer(name)
    producer.begin()
    producer.send(name, b"v")
    producer.flush()
    (state,) = client.admin.describe_producers([(name, 0)]).all()[name, 0]
    client.admin.abort_transaction((name, 0), state)
    assert not open_at(client, name)


def open_at(client: Client, topic: str) -> bool:
    states = client.admin.describe_producers([(topic, 0)]).all()[topic, 0]
    return any(each.current_txn_start_offset >= 0 for each in states)


def cluster(client: Client) -> None:
    found = client.admin.describe_cluster()
    assert 0 in [node.broker_id for node in found.brokers]
    versions = client.admin.api_versions().all()
    assert all(18 in each for each in versions.values())
    assert found.cluster_id == client.view.cluster_id
