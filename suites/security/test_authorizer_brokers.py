"""What brokers and controllers say to each other needs CLUSTER_ACTION on the cluster.

Each request here carries a past controller epoch, or names a broker that does not exist, so that a
broker that obeyed it would do no harm. Only claimed of releases with bearer tokens: ACLs on the
cluster are everybody's, so each case needs users of its own.

Sources: KafkaApis.authorizeClusterAction at 2.2.1, authorizeClusterOperation at 2.8.2,
KafkaApis.handleWriteTxnMarkersRequest at 2.2.1 to 4.3.1; KIP-11; clause WIRE-21.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.steps import a_topic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.controllers import (
    controlled_shutdown,
    leader_and_isr,
    stop_replica,
    update_metadata,
)
from touchstone.suites.kit.rights import asked, rights, said
from touchstone.suites.kit.security import CLUSTER, CLUSTER_ACTION, CLUSTER_NAME, authorizer
from touchstone.suites.kit.transactions import COMMIT, markers

REFUSED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
STALE = ErrorCode.STALE_CONTROLLER_EPOCH
EVIDENCE = ("WIRE-21", "KIP-11")
ASKED_BY_BROKERS = (
    "2.2-2.8"  # releases whose clients' listeners serve these, and with bearer tokens
)
PAST = 0  # controllers count their epochs from 1
NOBODY = 77


def _brokers(case):
    return rights(case, CLUSTER, CLUSTER_NAME, CLUSTER_ACTION)


@claim(
    "authorizer.leader-and-isr-needs-cluster-action",
    evidence=EVIDENCE,
    api="LeaderAndIsr",
    releases=ASKED_BY_BROKERS,
    versions=every("LeaderAndIsr"),
)
def test_leader_and_isr_needs_cluster_action(case):
    """LeaderAndIsr answers CLUSTER_AUTHORIZATION_FAILED to whoever may not do CLUSTER_ACTION."""
    topic = case.topic()
    state = {"controller_epoch": PAST, "leader": 0, "leader_epoch": 9, "replicas": [0]}
    return case.scenario(
        a_topic(topic),
        _brokers(case),
        asked(lambda who: leader_and_isr(topic, case.version, **state, **who)),
        expect=said("error_code", REFUSED, STALE),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.stop-replica-needs-cluster-action",
    evidence=EVIDENCE,
    api="StopReplica",
    releases=ASKED_BY_BROKERS,
    versions=every("StopReplica"),
)
def test_stop_replica_needs_cluster_action(case):
    """StopReplica answers CLUSTER_AUTHORIZATION_FAILED to whoever may not do CLUSTER_ACTION."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        _brokers(case),
        asked(lambda who: stop_replica(topic, case.version, controller_epoch=PAST, **who)),
        expect=said("error_code", REFUSED, STALE),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.update-metadata-needs-cluster-action",
    evidence=EVIDENCE,
    api="UpdateMetadata",
    releases=ASKED_BY_BROKERS,
    versions=every("UpdateMetadata"),
)
def test_update_metadata_needs_cluster_action(case):
    """UpdateMetadata answers CLUSTER_AUTHORIZATION_FAILED to whoever may not do CLUSTER_ACTION."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        _brokers(case),
        asked(lambda who: update_metadata(topic, case.version, controller_epoch=PAST, **who)),
        expect=said("error_code", REFUSED, STALE),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.controlled-shutdown-needs-cluster-action",
    evidence=EVIDENCE,
    api="ControlledShutdown",
    releases=ASKED_BY_BROKERS,
    versions=every("ControlledShutdown"),
)
def test_controlled_shutdown_needs_cluster_action(case):
    """ControlledShutdown answers CLUSTER_AUTHORIZATION_FAILED to whoever may not do
    CLUSTER_ACTION, also for a broker that does not exist."""
    return case.scenario(
        _brokers(case),
        asked(lambda who: controlled_shutdown(NOBODY, version=case.version, **who)),
        expect=said("error_code", REFUSED, ErrorCode.BROKER_NOT_AVAILABLE),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.markers-need-cluster-action",
    evidence=EVIDENCE,
    api="WriteTxnMarkers",
    releases="2.2+",
    versions=every("WriteTxnMarkers"),
    switches=("markers-unguarded",),
)
def test_markers_need_cluster_action(case):
    """WriteTxnMarkers answers CLUSTER_AUTHORIZATION_FAILED to whoever may not do CLUSTER_ACTION,
    and UNKNOWN_TOPIC_OR_PARTITION for a topic that does not exist to whoever may."""
    topic = case.topic()
    return case.scenario(
        _brokers(case),
        asked(lambda who: markers(NOBODY, 0, COMMIT, topic, version=case.version, **who)),
        expect=said(
            "markers[0].topics[0].partitions[0].error_code",
            REFUSED,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ),
        config=authorizer(case.release),
    )
