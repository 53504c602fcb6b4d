"""The KRaft quorum as clients see it: who votes, who observes, and requests to change the voters.

The clusters of the suites have the static voters of their settings (kraft.version 0), so no voter
can be added or removed; brokers forward the requests and the controller answers.

Sources: KafkaRaftClient.handleDescribeQuorumRequest, handleAddVoterRequest and
handleRemoveVoterRequest (3.9.2, 4.3.1), KIP-595, KIP-836, KIP-853.
"""

from dataclasses import replace

from touchstone.harness.model.claim import claim, every, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Ask
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.three_brokers import SHORT_SESSIONS_UNHARMED, on

METADATA = "__cluster_metadata"
PART = "topics[0].partitions[0]"
CODES = "topics[*].partitions[*].error_code"
DIRECTORY, NO_DIRECTORY = bytes(range(16)), bytes(16)
LISTENERS = [{"name": "CONTROLLER", "host": "localhost", "port": 9093}]
KRAFT = {"releases": "3.9+"}
FIXED = KRAFT | {"capabilities": ("fixed-voters",)}


def describe_quorum(version, *partitions, topic=METADATA, name="quorum"):
    rows = [{"partition_index": index} for index in partitions]
    return Ask(
        "DescribeQuorum", version, {"topics": [{"topic_name": topic, "partitions": rows}]}, name
    )


def add_voter(version, voter=5, *, cluster=None, directory=DIRECTORY, listeners=LISTENERS,
              name="add"):  # fmt: skip
    body = {
        "cluster_id": cluster,
        "timeout_ms": 1000,
        "voter_id": voter,
        "voter_directory_id": directory,
        "listeners": listeners,
        "ack_when_committed": True,
    }
    return Ask("AddRaftVoter", version, body, name)


def remove_voter(version, voter=5, *, cluster=None, directory=DIRECTORY, name="remove"):
    body = {"cluster_id": cluster, "voter_id": voter, "voter_directory_id": directory}
    return Ask("RemoveRaftVoter", version, body, name)


@claim("controller.a-quorum-of-one", evidence=("KIP-595", "KIP-836"), api="DescribeQuorum",
       capabilities=("only-broker",), **KRAFT)  # fmt: skip
def test_a_quorum_of_one(case):
    """DescribeQuorum on a single combined node shows one voter and no observer, and the same leader
    epoch as long as nobody is elected.
    """
    return case.scenario(
        describe_quorum(case.version, 0),
        describe_quorum(case.version, 0, name="again"),
        expect=all_of(
            answer("again", f"{PART}.leader_epoch").is_(Ref("quorum", f"{PART}.leader_epoch")),
            answer("quorum", f"{PART}.error_code").is_(ErrorCode.NONE),
            answer("quorum", f"{PART}.current_voters").has_length(1),
            answer("quorum", f"{PART}.observers").is_([]),
        ),
    )


@claim("controller.brokers-observe-the-quorum", evidence=("KIP-595", "KIP-836"),
       api="DescribeQuorum", versions=range_("DescribeQuorum", 0, 1),
       capabilities=("controller-apart",), **on("3.9+", SHORT_SESSIONS_UNHARMED))  # fmt: skip
def test_brokers_observe_the_quorum(case):
    """With a separate controller DescribeQuorum shows one voter and every broker as observer,
    whichever broker answers.
    """
    asked = [
        replace(describe_quorum(case.version, 0, name=f"at {broker}"), broker=broker)
        for broker in (0, 2)
    ]
    return case.scenario(
        asked,
        expect=all_of(
            *(answer(one.name, f"{PART}.current_voters").has_length(1) for one in asked),
            *(answer(one.name, f"{PART}.observers").has_length(3) for one in asked),
        ),
    )


@claim("controller.only-the-metadata-has-a-quorum", evidence=("KIP-595",), api="DescribeQuorum",
       asked=("another topic", "another partition", "both"), **KRAFT)  # fmt: skip
def test_only_the_metadata_has_a_quorum(case):
    """DescribeQuorum of another topic, of another partition, or of two answers
    UNKNOWN_TOPIC_OR_PARTITION for each.
    """
    question = {
        "another topic": describe_quorum(case.version, 0, topic="another"),
        "another partition": describe_quorum(case.version, 1),
        "both": describe_quorum(case.version, 0, 1),
    }[case.asked]
    return case.scenario(
        question,
        expect=all_of(
            answer("quorum", "error_code").is_(ErrorCode.NONE),
            answer("quorum", CODES).each_is(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim("controller.a-fixed-quorum-takes-no-voters", evidence=("KIP-853",), api="AddRaftVoter",
       **FIXED)  # fmt: skip
def test_a_fixed_quorum_takes_no_voters(case):
    """AddRaftVoter on a quorum with static voters answers UNSUPPORTED_VERSION."""
    return case.scenario(
        add_voter(case.version),
        expect=answer("add", "error_code").is_(ErrorCode.UNSUPPORTED_VERSION),
    )


@claim("controller.a-fixed-quorum-loses-no-voters", evidence=("KIP-853",), api="RemoveRaftVoter",
       **FIXED)  # fmt: skip
def test_a_fixed_quorum_loses_no_voters(case):
    """RemoveRaftVoter on a quorum with static voters answers UNSUPPORTED_VERSION."""
    return case.scenario(
        remove_voter(case.version),
        expect=answer("remove", "error_code").is_(ErrorCode.UNSUPPORTED_VERSION),
    )


@claim("controller.voters-of-another-cluster", evidence=("KIP-853",), api="AddRaftVoter",
       versions=every("AddRaftVoter"), **KRAFT)  # fmt: skip
def test_voters_of_another_cluster(case):
    """AddRaftVoter and RemoveRaftVoter with another cluster id answer INCONSISTENT_CLUSTER_ID
    before any other check.
    """
    return case.scenario(
        add_voter(case.version, cluster="another", voter=-1),
        remove_voter(0, cluster="another", voter=-1),
        expect=all_of(
            answer("add", "error_code").is_(ErrorCode.INCONSISTENT_CLUSTER_ID),
            answer("remove", "error_code").is_(ErrorCode.INCONSISTENT_CLUSTER_ID),
        ),
    )


@claim("controller.a-voter-has-an-id-and-a-directory", evidence=("KIP-853",), api="AddRaftVoter",
       **KRAFT)  # fmt: skip
def test_a_voter_has_an_id_and_a_directory(case):
    """AddRaftVoter and RemoveRaftVoter without voter id or directory id answer INVALID_REQUEST."""
    nobody, nowhere = {"voter": -1}, {"directory": NO_DIRECTORY}
    names = ("add nobody", "add nowhere", "remove nobody", "remove nowhere")
    return case.scenario(
        add_voter(case.version, name=names[0], **nobody),
        add_voter(case.version, name=names[1], **nowhere),
        remove_voter(0, name=names[2], **nobody),
        remove_voter(0, name=names[3], **nowhere),
        expect=all_of(
            *(answer(name, "error_code").is_(ErrorCode.INVALID_REQUEST) for name in names)
        ),
    )


@claim("controller.a-voter-has-listeners", evidence=("KIP-853", "observed on 4.3.1"),
       api="AddRaftVoter", **KRAFT)  # fmt: skip
def test_a_voter_has_listeners(case):
    """AddRaftVoter without the controllers' listener answers INVALID_REQUEST."""
    return case.scenario(
        add_voter(case.version, listeners=[]),
        expect=answer("add", "error_code").is_(ErrorCode.INVALID_REQUEST),
    )
