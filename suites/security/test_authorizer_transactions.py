"""What it takes to write in transactions, and idempotently.

Who is allowed here is refused for another reason: no producer has begun with its id.

Sources: KafkaApis.handleInitProducerIdRequest, handleAddPartitionToTxnRequest, handleEndTxnRequest,
handleTxnOffsetCommitRequest at 1.0.2 to 4.3.1; KIP-98, KIP-679; clause SEC-06.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import by_release
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import (
    a_topic,
    coordinator_ready,
    find_coordinator,
    init_producer_id,
    producer_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.rights import also, asked, rights, said
from touchstone.suites.kit.security import (
    CLUSTER,
    CLUSTER_NAME,
    DESCRIBE,
    GROUP,
    IDEMPOTENT_WRITE,
    READ,
    TOPIC,
    TRANSACTIONAL_ID,
    WRITE,
    authorizer,
)
from touchstone.suites.kit.transactions import PRODUCED, a_producer, add_partitions, send

REFUSED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
CLUSTER_REFUSED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
PRODUCER = {"producer_id": 77, "producer_epoch": 0}


@claim(
    "authorizer.find-transaction-coordinator-needs-describe",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="FindCoordinator",
    versions=only("FindCoordinator", 1),
)
def test_find_transaction_coordinator_needs_describe(case):
    """FindCoordinator answers TRANSACTIONAL_ID_AUTHORIZATION_FAILED for a transactional id that
    its client may not DESCRIBE."""
    name = case.transactional_id()
    path = "error_code" if case.version < 4 else "coordinators[0].error_code"
    return case.scenario(
        coordinator_ready(name, 1),
        rights(case, TRANSACTIONAL_ID, name, DESCRIBE),
        asked(lambda who: find_coordinator(name, key_type=1, version=case.version, **who)),
        expect=said(path, REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.init-producer-id-needs-write",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="InitProducerId",
    versions=only("InitProducerId", 0),
    switches=("transactional-ids-unguarded",),
)
def test_init_producer_id_needs_write(case):
    """InitProducerId answers TRANSACTIONAL_ID_AUTHORIZATION_FAILED for a transactional id that
    its client may not WRITE."""
    name = case.transactional_id()
    return case.scenario(
        producer_ready(),
        coordinator_ready(name, 1),
        rights(case, TRANSACTIONAL_ID, name, WRITE),
        asked(lambda who: init_producer_id(name, version=case.version, **who)),
        expect=said("error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.idempotence-needs-a-right-on-the-cluster",
    evidence=("SEC-06", "KIP-98"),
    api="InitProducerId",
    releases="2.2+",
    versions=only("InitProducerId", 0),
)
def test_idempotence_needs_a_right_on_the_cluster(case):
    """InitProducerId without a transactional id answers CLUSTER_AUTHORIZATION_FAILED to whoever
    may not do IDEMPOTENT_WRITE on the cluster."""
    return case.scenario(
        producer_ready(),
        rights(case, CLUSTER, CLUSTER_NAME, IDEMPOTENT_WRITE),
        asked(lambda who: init_producer_id(version=case.version, **who)),
        expect=said("error_code", CLUSTER_REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.writers-of-a-topic-may-be-idempotent",
    evidence=("KIP-679", "observed on 2.2.1", "observed on 4.3.1"),
    api="InitProducerId",
    releases="2.2+",
    versions=only("InitProducerId", 0),
)
def test_writers_of_a_topic_may_be_idempotent(case):
    """InitProducerId without a transactional id is allowed since 2.8 to whoever may WRITE some
    topic, and answers CLUSTER_AUTHORIZATION_FAILED in 2.2."""
    refused = said("error_code", CLUSTER_REFUSED, CLUSTER_REFUSED)
    return case.scenario(
        producer_ready(),
        rights(case, TOPIC, case.topic(), WRITE),
        asked(lambda who: init_producer_id(version=case.version, **who)),
        expect=by_release({"2.2": refused, "2.8+": said("error_code", CLUSTER_REFUSED)}),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.produce-in-a-transaction-needs-its-id",
    evidence=("SEC-06", "KIP-98"),
    api="Produce",
    versions=only("Produce", 3),
)
def test_produce_in_a_transaction_needs_its_id(case):
    """Produce of a transactional batch answers TRANSACTIONAL_ID_AUTHORIZATION_FAILED to whoever may
    not WRITE the transactional id, although that one may WRITE the topic."""
    topic, name = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(name),
        add_partitions(name, topic, name="begun"),
        also(case, TOPIC, topic, WRITE),
        rights(case, TRANSACTIONAL_ID, name, WRITE),
        asked(lambda who: send(name, topic, version=case.version, **who)),
        expect=said(PRODUCED, REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.end-txn-needs-write",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="EndTxn",
    versions=only("EndTxn", 0),
)
def test_end_txn_needs_write(case):
    """EndTxn answers TRANSACTIONAL_ID_AUTHORIZATION_FAILED for a transactional id that its
    client may not WRITE."""
    name = case.transactional_id()
    body = {"transactional_id": name, "committed": True, **PRODUCER}
    return case.scenario(
        coordinator_ready(name, 1),
        rights(case, TRANSACTIONAL_ID, name, WRITE),
        asked(lambda who: Ask("EndTxn", case.version, body, **who)),
        expect=said("error_code", REFUSED, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.add-offsets-to-txn-needs-write",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="AddOffsetsToTxn",
    versions=only("AddOffsetsToTxn", 0),
)
def test_add_offsets_to_txn_needs_write(case):
    """AddOffsetsToTxn answers TRANSACTIONAL_ID_AUTHORIZATION_FAILED for a transactional id that
    its client may not WRITE, although it may READ the group."""
    name = case.transactional_id()
    group = case.group()
    body = {"transactional_id": name, "group_id": group, **PRODUCER}
    return case.scenario(
        coordinator_ready(name, 1),
        also(case, GROUP, group, READ),
        rights(case, TRANSACTIONAL_ID, name, WRITE),
        asked(lambda who: Ask("AddOffsetsToTxn", case.version, body, **who)),
        expect=said("error_code", REFUSED, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        config=authorizer(case.release),
    )
