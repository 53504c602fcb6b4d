"""The steps of a transaction: its partitions, its offsets, its end (KIP-98, KIP-890)."""

from touchstone.harness.model.claim import SHOULD, claim
from touchstone.harness.model.expect import all_of, client
from touchstone.harness.model.steps import fetch
from touchstone.suites.kit.clients import (
    QUICK,
    Hear,
    P,
    Tell,
    a_topic,
    begin,
    end,
    fault,
    flush,
    init,
    producer,
    send,
    sent,
    texts,
)

# From 4.0 on brokers have transactions of version 2, of which they add the partitions themselves.
ADDED_BY_CLIENTS = "2.2-3.9"
OF_VERSION_2 = "4.3"
DELIVERED = {"name": "producer_send_success", "path": "value"}


def _open(case, *topics, **more):
    """A transactional producer that has begun, and the topics."""
    own = {"transactional.id": case.transactional_id(), "linger.ms": 0} | more
    return [*(a_topic(one) for one in topics), producer(config=own), init(), begin()]


def _offsets(group, topic, offset=7):
    """The producer is given an offset for a group."""
    rows = [{"topic": topic, "partition": 0, "offset": offset}]
    return [
        Tell("send_offsets", P, {"group": group, "offsets": rows}),
        Hear("transaction_complete", P, where={"operation": "send_offsets"}),
    ]


def _fails(operation):
    """The operation of the producer fails."""
    return [
        Tell("transaction", P, {"operation": operation}, name=f"try to {operation}"),
        Hear("client_error", P, where={"operation": operation}),
    ]


@claim("producer.a-partition-is-added-once", evidence=("KIP-98",), role="client",
       releases=ADDED_BY_CLIENTS, switches=("partitions-not-added",))  # fmt: skip
def test_a_partition_is_added_once(case):
    """Of the batches that a transaction writes to a partition only the first one waits for
    AddPartitionsToTxn, which is asked once.
    """
    topic = case.topic()
    return case.scenario(
        _open(case, topic),
        sent(topic, ["a"], number=1),
        sent(topic, ["b"], number=2),
        end(),
        expect=all_of(
            client("count", api="AddPartitionsToTxn").is_(1),
            client("first and last", names=["AddPartitionsToTxn answered", "Produce"]).is_(
                ["AddPartitionsToTxn answered", "Produce"]
            ),
        ),
        config=QUICK,
    )


@claim("producer.a-new-transaction-adds-its-partitions-again", evidence=("KIP-98",),
       role="client", releases=ADDED_BY_CLIENTS, switches=("partitions-not-added",))  # fmt: skip
def test_a_new_transaction_adds_its_partitions_again(case):
    """Each transaction adds the partitions that it writes to, whatever the one before had added."""
    topic = case.topic()
    return case.scenario(
        _open(case, topic),
        sent(topic, ["a"], number=1),
        end(),
        begin(number=2),
        sent(topic, ["b"], number=2),
        end(number=2),
        expect=all_of(
            client("count", api="AddPartitionsToTxn").is_(2),
            client("asked", api="EndTxn", path="committed").is_([True, True]),
        ),
        config=QUICK,
    )


@claim("producer.an-earlier-transaction-is-waited-for", evidence=("KIP-98",), role="client",
       releases=ADDED_BY_CLIENTS, switches=("concurrent-is-final",))  # fmt: skip
def test_an_earlier_transaction_is_waited_for(case):
    """A producer whose AddPartitionsToTxn is answered CONCURRENT_TRANSACTIONS asks again until the
    transaction before is over.
    """
    topic = case.topic()
    return case.scenario(
        _open(case, topic),
        fault("AddPartitionsToTxn", "CONCURRENT_TRANSACTIONS", 2),
        sent(topic, ["v"]),
        end(),
        expect=all_of(
            client("count", api="AddPartitionsToTxn").is_(3),
            client("events", **DELIVERED).is_(["v"]),
        ),
        config=QUICK,
    )


@claim("producer.a-transaction-of-version-2-adds-no-partitions", evidence=("KIP-890",),
       level=SHOULD, role="client", releases=OF_VERSION_2,
       switches=("features-hidden",))  # fmt: skip
def test_a_transaction_of_version_2_adds_no_partitions(case):
    """On a broker with transaction.version 2 a producer writes without AddPartitionsToTxn, since
    Produce adds its partitions.
    """
    topic = case.topic()
    return case.scenario(
        _open(case, topic),
        sent(topic, ["v"]),
        end(),
        fetch(topic, name="log", version=4, isolation=1),
        expect=all_of(
            client("count", api="AddPartitionsToTxn").is_(0),
            client("events", **DELIVERED).is_(["v"]),
        ),
        config=QUICK,
    )


@claim("producer.each-transaction-of-version-2-has-its-epoch", evidence=("KIP-890",),
       level=SHOULD, role="client", releases=OF_VERSION_2,
       switches=("features-hidden",))  # fmt: skip
def test_each_transaction_of_version_2_has_its_epoch(case):
    """On a broker with transaction.version 2 each transaction is written under the epoch that the
    end of the one before gave, from sequence 0 on.
    """
    topic = case.topic()
    return case.scenario(
        _open(case, topic),
        sent(topic, ["a"], number=1),
        end(),
        begin(number=2),
        sent(topic, ["b"], number=2),
        end(number=2),
        expect=client("batches", field="sequence", topic=topic).is_([[0, 0, 1], [1, 0, 1]]),
        config=QUICK,
    )


@claim("producer.an-empty-transaction-asks-for-no-end", evidence=("observed on 4.3.1",),
       role="client", level=SHOULD, switches=("ends-not-told",),
       how=("commit", "abort"))  # fmt: skip
def test_an_empty_transaction_asks_for_no_end(case):
    """A transaction without records and offsets ends without EndTxn, for the coordinator has not
    heard of it.
    """
    topic = case.topic()
    return case.scenario(
        _open(case, topic),
        end(case.how),
        expect=all_of(
            client("count", api="EndTxn").is_(0),
            client("events", name="transaction_complete", path="operation").contains(case.how),
        ),
        config=QUICK,
    )


@claim("producer.a-commit-sends-what-lingers", evidence=("PROD-31", "KIP-98"), role="client",
       switches=("close-drops-what-is-queued",))  # fmt: skip
def test_a_commit_sends_what_lingers(case):
    """A commit first delivers the records of its transaction that could linger for 60 s."""
    topic = case.topic()
    return case.scenario(
        _open(case, topic, **{"linger.ms": 60000, "delivery.timeout.ms": 120000}),
        send(topic, texts(3)),
        end(),
        expect=all_of(
            client("first and last", names=["Produce answered", "EndTxn"]).is_(
                ["Produce answered", "EndTxn"]
            ),
            client("events", **DELIVERED).is_(texts(3)),
        ),
        config=QUICK,
    )


@claim("producer.an-abort-drops-what-lingers", evidence=("KIP-98",), role="client",
       switches=("errors-swallowed",))  # fmt: skip
def test_an_abort_drops_what_lingers(case):
    """Records that still linger when their transaction is aborted are never sent, and fail."""
    topic = case.topic()
    return case.scenario(
        _open(case, topic, **{"linger.ms": 60000, "delivery.timeout.ms": 120000}),
        send(topic, ["v"]),
        end("abort"),
        expect=all_of(
            client("count", api="Produce").is_(0),
            client("events", name="producer_send_error", path="value").is_(["v"]),
        ),
        config=QUICK,
    )


@claim("producer.a-failed-record-lets-no-commit", evidence=("KIP-98",), role="client",
       switches=("failures-forgotten",))  # fmt: skip
def test_a_failed_record_lets_no_commit(case):
    """A transaction of which a record failed cannot be committed, and can be aborted."""
    topic = case.topic()
    return case.scenario(
        _open(case, topic),
        sent(topic, ["a"], number=1),
        fault("Produce", "RECORD_LIST_TOO_LARGE"),
        send(topic, ["b"], name="send what fails"),
        Hear("producer_send_error", P),
        _fails("commit"),
        end("abort"),
        expect=client("asked", api="EndTxn", path="committed").is_([False]),
        config=QUICK,
    )


@claim("producer.who-aborts-a-failure-goes-on", evidence=("KIP-98", "KIP-360"), role="client",
       level=SHOULD, switches=("errors-swallowed",))  # fmt: skip
def test_who_aborts_a_failure_goes_on(case):
    """A producer that has aborted a transaction of which a record failed commits the next one."""
    topic = case.topic()
    return case.scenario(
        _open(case, topic),
        sent(topic, ["a"], number=1),
        fault("Produce", "RECORD_LIST_TOO_LARGE"),
        send(topic, ["b"], name="send what fails"),
        Hear("producer_send_error", P),
        end("abort"),
        begin(number=2),
        sent(topic, ["c"], number=2),
        end(),
        expect=all_of(
            client("asked", api="EndTxn", path="committed").is_([False, True]),
            client("events", **DELIVERED).is_(["a", "c"]),
        ),
        config=QUICK,
    )


@claim("producer.refused-offsets-can-be-aborted", evidence=("KIP-98", "KIP-447"), role="client",
       switches=("aborts-become-commits",))  # fmt: skip
def test_refused_offsets_can_be_aborted(case):
    """A producer whose TxnOffsetCommit is answered GROUP_AUTHORIZATION_FAILED tells so, aborts, and
    commits its next transaction.
    """
    topic, group = case.topic(), case.group()
    rows = [{"topic": topic, "partition": 0, "offset": 7}]
    return case.scenario(
        _open(case, topic),
        sent(topic, ["a"], number=1),
        fault("TxnOffsetCommit", "GROUP_AUTHORIZATION_FAILED"),
        Tell("send_offsets", P, {"group": group, "offsets": rows}),
        Hear("client_error", P, where={"operation": "send_offsets"}),
        end("abort"),
        begin(number=2),
        sent(topic, ["b"], number=2),
        end(),
        expect=all_of(
            client("asked", api="EndTxn", path="committed").is_([False, True]),
            client("events", **DELIVERED).is_(["a", "b"]),
        ),
        config=QUICK,
    )


@claim("producer.a-fenced-commit-fails", evidence=("KIP-98",), role="client",
       switches=("failures-forgotten",))  # fmt: skip
def test_a_fenced_commit_fails(case):
    """A commit whose EndTxn is answered INVALID_PRODUCER_EPOCH fails, and is not asked again."""
    topic = case.topic()
    return case.scenario(
        _open(case, topic),
        sent(topic, ["a"]),
        fault("EndTxn", "INVALID_PRODUCER_EPOCH", None),
        _fails("commit"),
        expect=client("count", api="EndTxn").is_(1),
        config=QUICK,
    )


@claim("producer.a-group-is-added-before-its-offsets", evidence=("KIP-98",), role="client",
       releases=ADDED_BY_CLIENTS, switches=("groups-not-added",))  # fmt: skip
def test_a_group_is_added_before_its_offsets(case):
    """A producer that is given offsets asks AddOffsetsToTxn of the group before TxnOffsetCommit."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _open(case, topic),
        _offsets(group, topic),
        end(),
        expect=all_of(
            client("order", names=["AddOffsetsToTxn answered", "TxnOffsetCommit"]).is_(
                ["AddOffsetsToTxn answered", "TxnOffsetCommit"]
            ),
            client("asked", api="AddOffsetsToTxn", path="group_id").is_([group]),
        ),
        config=QUICK,
    )


@claim("producer.offsets-of-a-transaction-are-tried-again", evidence=("KIP-98",), role="client",
       switches=("commits-the-last-offset",),
       error=("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"))  # fmt: skip
def test_offsets_of_a_transaction_are_tried_again(case):
    """A TxnOffsetCommit that meets an error that passes is asked again, with the same offset."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _open(case, topic),
        fault("TxnOffsetCommit", case.error),
        _offsets(group, topic),
        end(),
        expect=client("commits", topic=topic).is_([7, 7]),
        config=QUICK,
    )


@claim("producer.the-transaction-timeout-is-said", evidence=("KIP-98",), role="client",
       switches=("timeout-not-said",))  # fmt: skip
def test_the_transaction_timeout_is_said(case):
    """InitProducerId names transaction.timeout.ms, after which the coordinator aborts by itself."""
    own = {"transactional.id": case.transactional_id(), "transaction.timeout.ms": 25000}
    return case.scenario(
        producer(config=own),
        init(),
        expect=client("asked", api="InitProducerId", path="transaction_timeout_ms").is_([25000]),
        config=QUICK,
    )


@claim("producer.an-open-transaction-is-ended-at-the-next-start", evidence=("KIP-98",),
       role="client", switches=("transactional-id-dropped",))  # fmt: skip
def test_an_open_transaction_is_ended_at_the_next_start(case):
    """A producer that takes a transactional id with a transaction left open ends that first, and
    its own commit succeeds.
    """
    topic, other = case.topic(), "q"
    own = {"transactional.id": case.transactional_id(), "linger.ms": 0}
    return case.scenario(
        a_topic(topic),
        producer(config=own),
        init(),
        begin(),
        sent(topic, ["left open"]),
        producer(other, own),
        init(other),
        begin(other),
        send(topic, ["committed"], other),
        flush(other),
        end("commit", other),
        expect=all_of(
            client("count", api="InitProducerId", client=other).at_least(1),
            client("asked", api="InitProducerId", path="transactional_id").lacks(None),
            client("asked", api="EndTxn", path="committed", client=other).is_([True]),
        ),
        config=QUICK,
    )
