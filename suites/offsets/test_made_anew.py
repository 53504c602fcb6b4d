"""Offsets of what is gone: of a topic that is made anew at once, and those of a transaction.

Sources: GroupCoordinator.handleDeletedPartitions and GroupMetadata.removeOffsets at 1.0.2, 2.8.2;
OffsetMetadataManager at 4.3; KIP-98, KIP-496; clause OFFS-24.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import create_topic, delete_topic, topic_gone, topic_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.groups import delete_offsets
from touchstone.suites.kit.offsets import (
    CLUSTER,
    CODE,
    NOTHING,
    OFFSET,
    a_group,
    commit,
    fetch,
    part,
    rows,
)
from touchstone.suites.kit.transactions import COMMIT, COMMITTED_OFFSET, commit_offset, ended
from touchstone.suites.offsets.test_deletes import forgotten
from touchstone.suites.transactions.test_offsets import prepared, visible

DELETES = {"api": "OffsetDelete", "versions": range_("OffsetDelete", 0), "config": CLUSTER}


def anew(topic):
    """The topic is deleted, and made anew before anybody asks for its offsets."""
    return [
        delete_topic(topic, name="deleted"),
        topic_gone(topic),
        Until(create_topic(topic, 2, name="anew"), "topics[0].error_code", "==", 0),
        topic_ready(topic, again=" anew"),
    ]


@claim("offsets.a-topic-made-anew-has-offsets-of-its-own", evidence=("OFFS-24",), config=CLUSTER)
def test_a_topic_made_anew_has_offsets_of_its_own(case):
    """A topic that is made anew at once has none of the offsets of the one before, and keeps those
    that are committed for it."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        rows(group, [(topic, [part(5), part(6, 1)])], name="sent"),
        anew(topic),
        forgotten(group, "none"),
        commit(group, topic, 3, name="sent anew"),
        fetch(group, topic, name="after"),
        fetch(group, topic, 1, name="other"),
        expect=all_of(answer("after", OFFSET).is_(3), answer("other", OFFSET).is_(NOTHING)),
    )


@claim("offsets.deleting-takes-what-a-transaction-brings", evidence=("KIP-496", "KIP-98"),
       **DELETES)  # fmt: skip
def test_deleting_takes_what_a_transaction_brings(case):
    """OffsetDelete also removes the offset that an open transaction has committed for the
    partition: the transaction's commit does not bring it back."""
    topic, group, transaction, steps = prepared(case)
    return case.scenario(
        steps,
        commit_offset(transaction, group, topic, 7, name="staged"),
        commit_offset(transaction, group, topic, 8, partition=1, name="staged too"),
        delete_offsets(group, topic, name="ask"),
        ended(transaction, COMMIT),
        visible(group, topic, 8, "all taken up", 1),
        fetch(group, topic, version=2, name="after"),
        expect=all_of(
            answer("staged", COMMITTED_OFFSET).is_(ErrorCode.NONE),
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("after", OFFSET).is_(NOTHING),
        ),
    )
