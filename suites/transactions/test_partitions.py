"""AddPartitionsToTxn: all partitions or none, and the batched form that brokers send (KIP-890).

Sources: KafkaApis.handleAddPartitionsToTxnRequest at 1.0.2, 2.8.2 and trunk of 2024-10; KIP-98,
KIP-890; all five releases were asked.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.steps import a_topic, ask
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.transactions import (
    CLUSTER,
    COMMIT,
    a_producer,
    add_partitions,
    added_code,
    end,
    one_of_many,
)

ADD = {
    "api": "AddPartitionsToTxn",
    "versions": range_("AddPartitionsToTxn", 0),
    "config": CLUSTER,
}
BATCHED = ADD | {"versions": range_("AddPartitionsToTxn", 4)}
OTHER = {"producer_id": Ref("other", "producer_id"), "epoch": Ref("other", "producer_epoch")}


def each(version):
    """The codes of all partitions of one topic."""
    return added_code(version).replace("results_by_partition[0]", "results_by_partition[*]")


@claim("transactions.unknown-partitions-add-nothing", evidence=("KIP-98",), **ADD)
def test_unknown_partitions_add_nothing(case):
    """AddPartitionsToTxn with an unknown partition answers UNKNOWN_TOPIC_OR_PARTITION for it and
    OPERATION_NOT_ATTEMPTED for the others, and begins no transaction; 1.0 checks topics only.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        add_partitions(transaction, topic, 0, 7, version=case.version, name="ask"),
        end(transaction, COMMIT, name="end"),
        expect=by_release(
            {
                "1.0": all_of(
                    answer("ask", each(case.version)).each_is(0),
                    answer("end", "error_code").is_(ErrorCode.NONE),
                ),
                "2.2+": all_of(
                    answer("ask", each(case.version)).contains(
                        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    ),
                    answer("ask", each(case.version)).contains(ErrorCode.OPERATION_NOT_ATTEMPTED),
                    answer("end", "error_code").is_(ErrorCode.INVALID_TXN_STATE),
                ),
            }
        ),
    )


@claim("transactions.unknown-topics-add-nothing", evidence=("KIP-98",), **ADD)
def test_unknown_topics_add_nothing(case):
    """AddPartitionsToTxn with an unknown topic answers UNKNOWN_TOPIC_OR_PARTITION and does not
    create the topic.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_producer(transaction),
        add_partitions(transaction, topic, 0, version=case.version, name="ask"),
        add_partitions(transaction, topic, 0, version=case.version, name="again"),
        expect=all_of(
            *(
                answer(name, added_code(case.version)).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                for name in ("ask", "again")
            )
        ),
    )


@claim("transactions.empty-ids-add-nothing", evidence=("KIP-98",), **ADD)
def test_empty_ids_add_nothing(case):
    """AddPartitionsToTxn with an empty transactional id answers INVALID_REQUEST."""
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        add_partitions("", topic, 0, version=case.version, name="ask"),
        expect=answer("ask", added_code(case.version)).is_(ErrorCode.INVALID_REQUEST),
    )


@claim("transactions.many-can-be-added-to-at-once", evidence=("KIP-890",), **BATCHED)
def test_many_can_be_added_to_at_once(case):
    """AddPartitionsToTxn from version 4 on takes many transactional ids and answers
    each by itself.
    """
    topic = case.topic()
    one, two, none = (case.transactional_id(word) for word in ("one", "two", "none"))
    topics = [{"name": topic, "partitions": [0]}]
    body = {
        "transactions": [
            one_of_many(one, topics),
            one_of_many(two, topics, OTHER["producer_id"], OTHER["epoch"]),
            one_of_many(none, topics),
        ]
    }
    code = "results_by_transaction[*].topic_results[*].results_by_partition[*].partition_error_code"
    return case.scenario(
        a_topic(topic),
        a_producer(one),
        a_producer(two, name="other"),
        ask("AddPartitionsToTxn", case.version, body, name="ask"),
        end(one, COMMIT, name="end one"),
        end(two, COMMIT, name="end two", **OTHER),
        expect=all_of(
            answer("ask", code).contains([[ErrorCode.INVALID_PRODUCER_ID_MAPPING]]),
            answer("ask", code).contains([[0]]),
            answer("end one", "error_code").is_(ErrorCode.NONE),
            answer("end two", "error_code").is_(ErrorCode.NONE),
        ),
    )


@claim("transactions.asking-about-partitions-begins-nothing", evidence=("KIP-890",), **BATCHED)
def test_asking_about_partitions_begins_nothing(case):
    """AddPartitionsToTxn with verify_only for a partition that was not added answers
    TRANSACTION_ABORTABLE and begins no transaction.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        add_partitions(transaction, topic, 0, version=case.version, verify=True, name="ask"),
        end(transaction, COMMIT, name="end"),
        expect=all_of(
            answer("ask", added_code(case.version)).is_(ErrorCode.TRANSACTION_ABORTABLE),
            answer("end", "error_code").is_(ErrorCode.INVALID_TXN_STATE),
        ),
    )


@claim("transactions.asking-about-unknown-partitions-is-refused", evidence=("KIP-890",), **BATCHED)
def test_asking_about_unknown_partitions_is_refused(case):
    """AddPartitionsToTxn with verify_only and an unknown partition answers
    UNKNOWN_TOPIC_OR_PARTITION for it and OPERATION_NOT_ATTEMPTED for the others.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        add_partitions(transaction, topic, 0, name="begun"),
        add_partitions(transaction, topic, 0, 9, version=case.version, verify=True, name="ask"),
        expect=all_of(
            answer("ask", each(case.version)).contains(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("ask", each(case.version)).contains(ErrorCode.OPERATION_NOT_ATTEMPTED),
        ),
    )


@claim("transactions.adding-twice-is-adding-once", evidence=("KIP-98",), **ADD)
def test_adding_twice_is_adding_once(case):
    """AddPartitionsToTxn with a partition that the transaction already has succeeds."""
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic, 2),
        a_producer(transaction),
        add_partitions(transaction, topic, 0, version=case.version, name="once"),
        add_partitions(transaction, topic, 0, 1, version=case.version, name="more"),
        add_partitions(transaction, topic, 0, 1, version=case.version, name="again"),
        expect=all_of(
            *(answer(word, each(case.version)).each_is(0) for word in ("once", "more", "again")),
        ),
    )
