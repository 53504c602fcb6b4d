"""DescribeCluster and FindCoordinator: who is there, and whom to ask about a group.

Sources: KIP-700 (DescribeCluster), KIP-919 (endpoint types), KIP-1073 (fenced brokers), KIP-98
(coordinators of transactions), KIP-699 (many keys at once); clause META-12.
"""

from touchstone.harness.model.claim import claim, every, only, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import coordinator_ready, find_coordinator
from touchstone.reference_impl.wire.errors import ErrorCode

GROUP, TRANSACTION = 0, 1
CONTROLLERS = 2
SEVERAL = 4


@claim(
    "cluster.describes-its-brokers",
    evidence=("KIP-700",),
    api="DescribeCluster",
    versions=every("DescribeCluster"),
)
def test_describes_its_brokers(case):
    """DescribeCluster returns the ids of the brokers and of the controller, without an error."""
    return case.scenario(
        Ask("DescribeCluster", case.version, {}, name="ask"),
        expect=all_of(
            answer("ask", "error_code").is_(ErrorCode.NONE),
            answer("ask", "brokers[*].broker_id").is_([0]),
            answer("ask", "controller_id").is_(0),
        ),
    )


@claim(
    "cluster.tells-authorized-operations-when-asked",
    evidence=("KIP-700", "KIP-430"),
    api="DescribeCluster",
    versions=only("DescribeCluster", 0),
)
def test_tells_authorized_operations_when_asked(case):
    """DescribeCluster with include_cluster_authorized_operations returns the operations that the
    client may perform on the cluster."""
    body = {"include_cluster_authorized_operations": True}
    return case.scenario(
        Ask("DescribeCluster", case.version, body, name="ask"),
        expect=answer("ask", "cluster_authorized_operations").at_least(1),
    )


@claim(
    "cluster.brokers-do-not-describe-controllers",
    evidence=("KIP-919",),
    api="DescribeCluster",
    versions=range_("DescribeCluster", 1),
    endpoint=(CONTROLLERS, 3),
)
def test_brokers_do_not_describe_controllers(case):
    """DescribeCluster for the endpoints of controllers, or for an unknown endpoint type, answers an
    error when a broker is asked."""
    return case.scenario(
        Ask("DescribeCluster", case.version, {"endpoint_type": case.endpoint}, name="ask"),
        expect=answer("ask", "error_code").is_not(ErrorCode.NONE),
    )


@claim(
    "cluster.every-group-has-a-coordinator",
    evidence=("META-12", "KIP-699"),
    api="FindCoordinator",
    versions=every("FindCoordinator"),
)
def test_every_group_has_a_coordinator(case):
    """FindCoordinator of a group returns a broker; since version 4 it returns one for each key."""
    one, two = case.group("one"), case.group("two")
    keys = (one, two) if case.version >= SEVERAL else (one,)
    return case.scenario(
        coordinator_ready(one),
        coordinator_ready(two),
        find_coordinator(*keys, version=case.version, name="ask"),
        expect=all_of(
            answer("ask", "coordinators[*].error_code").each_is(ErrorCode.NONE),
            answer("ask", "coordinators[*].node_id").is_([0, 0]),
        )
        if case.version >= SEVERAL
        else all_of(
            answer("ask", "error_code").is_(ErrorCode.NONE), answer("ask", "node_id").is_(0)
        ),
    )


@claim(
    "cluster.transactional-ids-have-coordinators",
    evidence=("META-12", "KIP-98"),
    api="FindCoordinator",
    versions=range_("FindCoordinator", 1),
    where=lambda row: row["version"] in (1, 3, 4),
)
def test_transactional_ids_have_coordinators(case):
    """FindCoordinator with key type 1 returns the coordinator of a transactional id."""
    key = case.transactional_id()
    return case.scenario(
        coordinator_ready(key, TRANSACTION),
        find_coordinator(key, version=case.version, key_type=TRANSACTION, name="ask"),
        expect=answer("ask", "coordinators[0].node_id").is_(0)
        if case.version >= SEVERAL
        else answer("ask", "node_id").is_(0),
    )


@claim(
    "cluster.unknown-key-types-have-no-coordinator",
    evidence=("META-12", "observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="FindCoordinator",
    versions=range_("FindCoordinator", 3),
    where=lambda row: row["version"] in (3, 4),
    releases="3.9+",
)
def test_unknown_key_types_have_no_coordinator(case):
    """FindCoordinator with an unknown key type answers INVALID_REQUEST."""
    return case.scenario(
        find_coordinator(case.group(), version=case.version, key_type=77, name="ask"),
        expect=answer("ask", "coordinators[0].error_code").is_(ErrorCode.INVALID_REQUEST)
        if case.version >= SEVERAL
        else answer("ask", "error_code").is_(ErrorCode.INVALID_REQUEST),
    )
