"""Offsets committed within transactions: hidden until the end, then visible or dropped together.

Sources: GroupCoordinator.handleTxnCommitOffsets and GroupMetadata at 1.0.2, 2.8.2; KIP-98, KIP-447,
KIP-890; all five releases were asked.
"""

from touchstone.harness.model.claim import OBSERVED, claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Await, Send, Until
from touchstone.harness.model.steps import a_topic, ask, coordinator_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.offsets import MEMBER, a_member
from touchstone.suites.kit.transactions import (
    ABORT,
    CLUSTER,
    COMMIT,
    COMMITTED_OFFSET,
    a_producer,
    add_offsets,
    commit_offset,
    end,
    ended,
    offset_fetch,
    settled,
)

FETCHED = "topics[0].partitions[0].committed_offset"
FETCHED_CODE = "topics[0].partitions[0].error_code"
COMMITS = {
    "api": "TxnOffsetCommit",
    "versions": range_("TxnOffsetCommit", 0),
    "config": CLUSTER,
}
CHECKED = COMMITS | {"versions": range_("TxnOffsetCommit", 3)}


def prepared(case):
    """A topic, a group's coordinator and a producer whose transaction has the group's offsets."""
    topic, group, transaction = case.topic(), case.group(), case.transactional_id()
    steps = [
        a_topic(topic, 2),
        coordinator_ready(group),
        a_producer(transaction),
        Until(offset_fetch(group, topic, name="group ready"), FETCHED_CODE, "==", 0),
        add_offsets(transaction, group, name="group added"),
    ]
    return topic, group, transaction, steps


def visible(group, topic, offset, name, partition=0):
    """The coordinator takes up committed offsets a moment after the marker."""
    return Until(offset_fetch(group, topic, partition, name=name), FETCHED, "==", offset)


@claim(
    "transactions.offsets-count-from-the-commit-on",
    evidence=("KIP-98",),
    switches=("pending-offsets-visible",),
    **COMMITS,
)
def test_offsets_count_from_the_commit_on(case):
    """OffsetFetch answers the offsets of a transaction only after its commit."""
    topic, group, transaction, steps = prepared(case)
    return case.scenario(
        steps,
        commit_offset(transaction, group, topic, 7, version=case.version, name="ask"),
        offset_fetch(group, topic, name="open"),
        ended(transaction, COMMIT, epoch=Ref("producer", "producer_epoch")),
        visible(group, topic, 7, "committed"),
        expect=all_of(
            answer("ask", COMMITTED_OFFSET).is_(ErrorCode.NONE),
            answer("open", FETCHED).is_(-1),
            answer("committed", FETCHED).is_(7),
        ),
    )


@claim("transactions.aborted-offsets-are-forgotten", evidence=("KIP-98",), **COMMITS)
def test_aborted_offsets_are_forgotten(case):
    """An abort drops the offsets of its transaction; OffsetFetch answers the ones
    committed before.
    """
    topic, group, transaction, steps = prepared(case)
    return case.scenario(
        steps,
        commit_offset(transaction, group, topic, 5, name="before"),
        ended(transaction, COMMIT, "kept"),
        visible(group, topic, 5, "kept offset"),
        add_offsets(transaction, group, name="added again"),
        commit_offset(transaction, group, topic, 9, version=case.version, name="ask"),
        ended(transaction, ABORT, "dropped"),
        offset_fetch(group, topic, name="after"),
        expect=all_of(
            answer("ask", COMMITTED_OFFSET).is_(ErrorCode.NONE),
            answer("after", FETCHED).is_(5),
        ),
    )


@claim(
    "transactions.unstable-offsets-are-not-fetched",
    evidence=("KIP-447",),
    api="OffsetFetch",
    versions=range_("OffsetFetch", 7, 7),
    config=CLUSTER,
    stable=(True, False),
)
def test_unstable_offsets_are_not_fetched(case):
    """OffsetFetch with require_stable answers UNSTABLE_OFFSET_COMMIT while a transaction's offsets
    are pending.
    """
    topic, group, transaction, steps = prepared(case)
    fetch = offset_fetch(group, topic, version=case.version, stable=case.stable, name="open")
    return case.scenario(
        steps,
        commit_offset(transaction, group, topic, 7, name="sent"),
        fetch,
        ended(transaction, COMMIT),
        visible(group, topic, 7, "committed"),
        expect=all_of(
            answer("open", FETCHED_CODE).is_(
                ErrorCode.UNSTABLE_OFFSET_COMMIT if case.stable else ErrorCode.NONE
            ),
            answer("open", FETCHED).is_(-1),
            answer("committed", FETCHED).is_(7),
        ),
    )


@claim("transactions.unknown-partitions-have-no-offsets", evidence=("OFFS-03", "KIP-98"), **COMMITS)
def test_unknown_partitions_have_no_offsets(case):
    """TxnOffsetCommit for an unknown topic or partition answers UNKNOWN_TOPIC_OR_PARTITION (1.0
    does not check partitions).
    """
    topic, group, transaction, steps = prepared(case)
    return case.scenario(
        steps,
        commit_offset(transaction, group, topic, 7, partition=9, version=case.version, name="ask"),
        commit_offset(transaction, group, case.topic("none"), 7, version=case.version, name="none"),
        expect=all_of(
            by_release(
                {
                    "1.0": answer("ask", COMMITTED_OFFSET).is_(ErrorCode.NONE),
                    "2.2+": answer("ask", COMMITTED_OFFSET).is_(
                        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    ),
                }
            ),
            answer("none", COMMITTED_OFFSET).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim("transactions.metadata-of-offsets-has-a-limit", evidence=("OFFS-16", "KIP-98"), **COMMITS)
def test_metadata_of_offsets_has_a_limit(case):
    """TxnOffsetCommit with metadata above offset.metadata.max.bytes (4096) answers
    OFFSET_METADATA_TOO_LARGE.
    """
    topic, group, transaction, steps = prepared(case)
    return case.scenario(
        steps,
        commit_offset(
            transaction, group, topic, 7, metadata="m" * 4097, version=case.version, name="ask"
        ),
        commit_offset(
            transaction, group, topic, 7, metadata="m" * 4096, version=case.version, name="most"
        ),
        expect=all_of(
            answer("ask", COMMITTED_OFFSET).is_(ErrorCode.OFFSET_METADATA_TOO_LARGE),
            answer("most", COMMITTED_OFFSET).is_(ErrorCode.NONE),
        ),
    )


@claim(
    "transactions.strange-generations-commit-nothing",
    evidence=("KIP-447",),
    generation=(0, 5),
    **CHECKED,
)
def test_strange_generations_commit_nothing(case):
    """TxnOffsetCommit with a generation for a group without members commits nothing and answers
    UNKNOWN_MEMBER_ID, in 4.3 ILLEGAL_GENERATION.
    """
    topic, group, transaction, steps = prepared(case)
    member = {"generation_id": case.generation, "member_id": "nobody"}
    return case.scenario(
        steps,
        commit_offset(transaction, group, topic, version=case.version, member=member, name="ask"),
        offset_fetch(group, topic, name="after"),
        expect=all_of(
            by_release(
                {
                    "2.8-3.9": answer("ask", COMMITTED_OFFSET).is_(ErrorCode.UNKNOWN_MEMBER_ID),
                    "4.3+": answer("ask", COMMITTED_OFFSET).is_(ErrorCode.ILLEGAL_GENERATION),
                }
            ),
            answer("after", FETCHED).is_(-1),
        ),
    )


@claim("transactions.members-commit-in-their-generation", evidence=("KIP-447",), **CHECKED)
def test_members_commit_in_their_generation(case):
    """TxnOffsetCommit succeeds for a member in its generation; another generation answers
    ILLEGAL_GENERATION, an unknown member UNKNOWN_MEMBER_ID.
    """
    topic, group, transaction, steps = prepared(case)

    def commits(name, **member):
        return commit_offset(
            transaction, group, topic, version=case.version, member=member, name=name
        )

    return case.scenario(
        steps,
        a_member(group),
        commits("own", generation_id=1, member_id=MEMBER),
        commits("older", generation_id=0, member_id=MEMBER),
        commits("stranger", generation_id=1, member_id="nobody"),
        commits("outside"),
        commits("unnamed", member_id="nobody"),
        ended(transaction, COMMIT),
        visible(group, topic, 7, "committed"),
        expect=all_of(
            answer("own", COMMITTED_OFFSET).is_(ErrorCode.NONE),
            answer("older", COMMITTED_OFFSET).is_(ErrorCode.ILLEGAL_GENERATION),
            answer("stranger", COMMITTED_OFFSET).is_(ErrorCode.UNKNOWN_MEMBER_ID),
            answer("outside", COMMITTED_OFFSET).is_(ErrorCode.NONE),
        ),
    )


@claim("transactions.groups-need-a-name", evidence=("KIP-98",), level=OBSERVED, **COMMITS)
def test_groups_need_a_name(case):
    """TxnOffsetCommit with an empty group id answers INVALID_GROUP_ID; 1.0 accepts it."""
    topic, _, transaction, steps = prepared(case)
    return case.scenario(
        steps,
        commit_offset(transaction, "", topic, version=case.version, name="ask"),
        expect=by_release(
            {
                "1.0": answer("ask", COMMITTED_OFFSET).is_(ErrorCode.NONE),
                "2.2+": answer("ask", COMMITTED_OFFSET).is_(ErrorCode.INVALID_GROUP_ID),
            }
        ),
    )


@claim(
    "transactions.later-commits-outlast-earlier-ones",
    evidence=("KIP-98",),
    **COMMITS,
)
def test_later_commits_outlast_earlier_ones(case):
    """An OffsetCommit during a transaction replaces the transaction's own pending offset and
    outlasts its commit.
    """
    topic, group, transaction, steps = prepared(case)
    row = {"partition_index": 0, "committed_offset": 20, "committed_metadata": ""}
    plain = {
        "group_id": group,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "topics": [{"name": topic, "partitions": [row]}],
    }
    return case.scenario(
        steps,
        commit_offset(transaction, group, topic, 7, version=case.version, name="ask"),
        ask("OffsetCommit", 2, plain, name="plain"),
        offset_fetch(group, topic, name="open"),
        commit_offset(transaction, group, topic, 8, partition=1, name="another"),
        ended(transaction, COMMIT),
        visible(group, topic, 8, "all taken up", 1),
        offset_fetch(group, topic, name="after"),
        expect=all_of(
            answer("plain", COMMITTED_OFFSET).is_(ErrorCode.NONE),
            answer("open", FETCHED).is_(20),
            answer("after", FETCHED).is_(20),
        ),
    )


@claim(
    "transactions.groups-with-pending-offsets-can-be-deleted",
    evidence=("KIP-98",),
    api="DeleteGroups",
    versions=range_("DeleteGroups", 0),
    config=CLUSTER,
)
def test_groups_with_pending_offsets_can_be_deleted(case):
    """DeleteGroups succeeds for a group with only pending transactional offsets, and the
    transaction's commit does not restore them.
    """
    topic, group, transaction, steps = prepared(case)
    return case.scenario(
        steps,
        commit_offset(transaction, group, topic, 7, name="sent"),
        ask("DeleteGroups", case.version, {"groups_names": [group]}, name="ask"),
        end(transaction, COMMIT, name="end"),
        settled(end(transaction, COMMIT, name="ended")),
        Send("OffsetFetch", 1, offset_fetch(group, topic).body, name="after"),
        Await("after"),
        expect=all_of(
            answer("ask", "results[0].error_code").is_(ErrorCode.NONE),
            answer("after", FETCHED).is_(-1),
        ),
    )
