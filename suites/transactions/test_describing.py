"""Admin requests about transactions and producers (KIP-664).

Sources: KIP-664, KIP-994 (duration), KIP-1152 (pattern);
TransactionStateManager.listTransactionStates on trunk of 2024-10; observed on 2.8.2, 3.9.2 and
4.3.1.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.steps import a_topic, ask, fetch, produce, producer_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import three_brokers
from touchstone.suites.kit.records import ONE, batch, from_producer
from touchstone.suites.kit.transactions import (
    CLUSTER,
    COMMIT,
    PRODUCER,
    a_producer,
    add_partitions,
    describe,
    describe_producers,
    ended,
    list_transactions,
    record,
    send,
)

STATES = "transaction_states"
LIST = {"api": "ListTransactions", "versions": range_("ListTransactions", 0), "config": CLUSTER}
DESCRIBE = {
    "api": "DescribeTransactions",
    "versions": range_("DescribeTransactions", 0),
    "config": CLUSTER,
}
PRODUCERS = {
    "api": "DescribeProducers",
    "versions": range_("DescribeProducers", 0),
    "config": CLUSTER,
}


def an_open_transaction(case):
    topic, transaction = case.topic(), case.transactional_id()
    steps = [
        a_topic(topic, 2),
        a_producer(transaction),
        add_partitions(transaction, topic, 0, 1, name="begun"),
        send(transaction, topic, record(ONE), name="sent"),
    ]
    return topic, transaction, steps


@claim("transactions.descriptions-tell-all", evidence=("KIP-664",), **DESCRIBE)
def test_descriptions_tell_all(case):
    """DescribeTransactions answers state, timeout, producer id and partitions of an open
    transaction.
    """
    topic, transaction, steps = an_open_transaction(case)
    return case.scenario(
        steps,
        describe(transaction, name="ask"),
        expect=all_of(
            answer("ask", f"{STATES}[0].transaction_state").is_("Ongoing"),
            answer("ask", f"{STATES}[0].transaction_timeout_ms").is_(60_000),
            answer("ask", f"{STATES}[0].producer_id").is_(PRODUCER),
            answer("ask", f"{STATES}[0].topics[0].topic").is_(topic),
            answer("ask", f"{STATES}[0].topics[0].partitions").has_length(2),
        ),
    )


@claim("transactions.each-is-described-by-itself", evidence=("KIP-664",), **DESCRIBE)
def test_each_is_described_by_itself(case):
    """DescribeTransactions answers TRANSACTIONAL_ID_NOT_FOUND for an unknown id and INVALID_REQUEST
    for an empty one, and describes the others.
    """
    _, transaction, steps = an_open_transaction(case)
    body = {"transactional_ids": [transaction, case.transactional_id("none"), ""]}
    return case.scenario(
        steps,
        ask("DescribeTransactions", 0, body, name="ask"),
        expect=all_of(
            answer("ask", f"{STATES}[*].error_code").is_(
                [ErrorCode.NONE, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, ErrorCode.INVALID_REQUEST]
            ),
        ),
    )


@claim("transactions.lists-can-be-narrowed-by-state", evidence=("KIP-664",), **LIST)
def test_lists_can_be_narrowed_by_state(case):
    """ListTransactions answers only transactions in the given states, and names unknown states in
    unknown_state_filters.
    """
    _, _, steps = an_open_transaction(case)
    return case.scenario(
        steps,
        list_transactions(PRODUCER, "Ongoing", version=case.version, name="ongoing"),
        list_transactions(PRODUCER, "Empty", "CompleteCommit", version=case.version, name="others"),
        list_transactions(PRODUCER, "Sleeping", "ongoing", version=case.version, name="strange"),
        list_transactions(PRODUCER, "Ongoing", "Sleeping", version=case.version, name="both"),
        expect=all_of(
            answer("ongoing", STATES).has_length(1),
            answer("others", STATES).has_length(0),
            answer("strange", STATES).has_length(0),
            answer("strange", "unknown_state_filters").has_length(2),
            answer("both", STATES).has_length(1),
            answer("both", "unknown_state_filters").is_(["Sleeping"]),
        ),
    )


@claim("transactions.lists-can-be-narrowed-by-producer", evidence=("KIP-664",), **LIST)
def test_lists_can_be_narrowed_by_producer(case):
    """ListTransactions answers only transactions of the given producer ids."""
    _, transaction, steps = an_open_transaction(case)
    return case.scenario(
        steps,
        list_transactions(PRODUCER, version=case.version, name="own"),
        list_transactions(2**62, version=case.version, name="nobody's"),
        expect=all_of(
            answer("own", f"{STATES}[*].transactional_id").is_([transaction]),
            answer("nobody's", STATES).has_length(0),
        ),
    )


@claim(
    "transactions.lists-can-be-narrowed-by-duration",
    evidence=("KIP-994",),
    **LIST | {"versions": range_("ListTransactions", 1)},
)
def test_lists_can_be_narrowed_by_duration(case):
    """ListTransactions answers only transactions open for longer than duration_filter."""
    _, _, steps = an_open_transaction(case)
    return case.scenario(
        steps,
        list_transactions(PRODUCER, version=case.version, longer_than=3_600_000, name="an hour"),
        list_transactions(PRODUCER, version=case.version, longer_than=-1, name="any"),
        expect=all_of(answer("an hour", STATES).has_length(0), answer("any", STATES).has_length(1)),
    )


@claim(
    "transactions.lists-can-be-narrowed-by-pattern",
    evidence=("KIP-1152",),
    **LIST | {"versions": range_("ListTransactions", 2)},
)
def test_lists_can_be_narrowed_by_pattern(case):
    """ListTransactions answers only transactional ids that match the whole pattern; an invalid one
    answers INVALID_REGULAR_EXPRESSION.
    """
    _, _, steps = an_open_transaction(case)

    def listed(pattern, name):
        return list_transactions(PRODUCER, version=case.version, pattern=pattern, name=name)

    return case.scenario(
        steps,
        listed("transaction-.*", "whole"),
        listed("transaction", "part"),
        listed("", "empty"),
        listed("transaction-[", "broken"),
        expect=all_of(
            answer("whole", STATES).has_length(1),
            answer("part", STATES).has_length(0),
            answer("empty", STATES).has_length(1),
            answer("broken", "error_code").is_(ErrorCode.INVALID_REGULAR_EXPRESSION),
        ),
    )


@claim("transactions.partitions-tell-their-producers", evidence=("KIP-664",), **PRODUCERS)
def test_partitions_tell_their_producers(case):
    """DescribeProducers answers each producer's last sequence and the start offset of its open
    transaction.
    """
    topic, _, steps = an_open_transaction(case)
    plain = Ref("producer ids", "producer_id")
    producers = "topics[0].partitions[0].active_producers"
    return case.scenario(
        steps,
        producer_ready(),
        produce(topic, 0, batch(ONE), name="from nobody"),
        produce(topic, 0, from_producer(plain, 0, 0, b"a", b"b"), name="from a plain one"),
        describe_producers(topic, 0, 1, name="ask"),
        expect=all_of(
            answer("ask", producers).has_length(2),
            answer("ask", f"{producers}[*].last_sequence").contains(1),
            answer("ask", f"{producers}[*].current_txn_start_offset").contains(0),
            answer("ask", f"{producers}[*].coordinator_epoch").each_is(-1),
        ),
    )


@claim("transactions.ended-ones-leave-the-producer", evidence=("KIP-664",), **PRODUCERS)
def test_ended_ones_leave_the_producer(case):
    """After a commit DescribeProducers still answers the producer, with the coordinator epoch that
    its marker has and without an open transaction.
    """
    topic, transaction, steps = an_open_transaction(case)
    producer = "topics[0].partitions[0].active_producers[0]"
    return case.scenario(
        steps,
        ended(transaction, COMMIT),
        fetch(topic, 0, 1, version=4, max_wait_ms=0, name="marker"),
        describe_producers(topic, 0, name="ask"),
        expect=all_of(
            answer("ask", f"{producer}.coordinator_epoch").at_least(0),
            answer("ask", f"{producer}.current_txn_start_offset").is_(-1),
            answer("ask", f"{producer}.last_sequence").is_(0),
        ),
    )


@claim(
    "transactions.followers-tell-producers-too",
    evidence=("KIP-664", "observed on 2.8.2, 3.9.2 and 4.3.1"),
    **PRODUCERS | three_brokers.SHORT_SESSIONS_UNHARMED,
)
def test_followers_tell_producers_too(case):
    """DescribeProducers succeeds at leaders and followers; a broker without a replica answers
    NOT_LEADER_OR_FOLLOWER.
    """
    topic, plain = case.topic(), Ref("producer ids", "producer_id")
    partition = "topics[0].partitions[0]"
    known = f"{partition}.active_producers"
    return case.scenario(
        three_brokers.placed(topic, {0: [1, 2]}),
        producer_ready(),
        three_brokers.write(topic, from_producer(plain, 0, 0, b"a", b"b")),
        describe_producers(topic, broker=1, name="leader"),
        describe_producers(topic, broker=2, name="follower"),
        describe_producers(topic, broker=0, name="neither"),
        expect=all_of(
            answer("leader", f"{known}[*].producer_id").is_([plain]),
            answer("follower", f"{partition}.error_code").is_(ErrorCode.NONE),
            answer("follower", f"{known}[*].producer_id").is_([plain]),
            answer("follower", f"{known}[*].last_sequence").is_([1]),
            answer("neither", f"{partition}.error_code").is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ),
    )


@claim("transactions.strange-partitions-have-no-producers", evidence=("KIP-664",), **PRODUCERS)
def test_strange_partitions_have_no_producers(case):
    """DescribeProducers answers UNKNOWN_TOPIC_OR_PARTITION for unknown topics and partitions, and
    INVALID_TOPIC_EXCEPTION for invalid names (2.8 does not check names).
    """
    topic = case.topic()
    codes = answer("ask", "topics[*].partitions[*].error_code")
    body = {
        "topics": [
            {"name": topic, "partition_indexes": [0, 7]},
            {"name": case.topic("none"), "partition_indexes": [0]},
            {"name": "no/topic", "partition_indexes": [0]},
        ]
    }
    return case.scenario(
        a_topic(topic),
        ask("DescribeProducers", 0, body, name="ask"),
        expect=by_release(
            {
                "2.8": codes.is_(
                    [
                        [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION],
                        [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION],
                        [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION],
                    ]
                ),
                "3.9+": codes.is_(
                    [
                        [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION],
                        [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION],
                        [ErrorCode.INVALID_TOPIC_EXCEPTION],
                    ]
                ),
            }
        ),
    )
