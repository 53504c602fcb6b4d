"""A transactional producer: its markers, its fences (KIP-98)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, any_of, client, records
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
)
from touchstone.suites.kit.transactions import stable

OTHER = "q"
FENCED = ("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "FENCED_INSTANCE_ID")


def _producer(case, client_=P):
    return producer(client_, {"transactional.id": case.transactional_id(), "linger.ms": 0})


@claim("producer.a-commit-makes-its-records-stable", evidence=("KIP-98",), role="client",
       switches=("commits-become-aborts",))  # fmt: skip
def test_a_commit_makes_its_records_stable(case):
    """A transaction that is committed ends with EndTxn committed, and readers get its records."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        _producer(case),
        init(),
        begin(),
        sent(topic, ["v"]),
        end("commit"),
        stable(topic, 2),
        fetch(topic, name="log", version=4, isolation=1),
        expect=all_of(
            client("asked", api="EndTxn", path="committed").is_([True]),
            client("batches", field="transactional", topic=topic).is_([True]),
            records("log", "[0].value").is_(b"v"),
        ),
        config=QUICK,
    )


@claim("producer.an-abort-ends-with-end-txn", evidence=("KIP-98",), role="client",
       switches=("aborts-become-commits",))  # fmt: skip
def test_an_abort_ends_with_end_txn(case):
    """A transaction that is aborted ends with EndTxn not committed."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        _producer(case),
        init(),
        begin(),
        sent(topic, ["v"]),
        end("abort"),
        expect=client("asked", api="EndTxn", path="committed").is_([False]),
        config=QUICK,
    )


@claim("producer.a-fenced-producer-gives-up", evidence=("KIP-98",), role="client",
       switches=("errors-swallowed",))  # fmt: skip
def test_a_fenced_producer_gives_up(case):
    """A producer whose transactional id another one has taken fails its record, and says why."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        _producer(case),
        init(),
        _producer(case, OTHER),
        init(OTHER),
        begin(),
        send(topic, ["late"]),
        Hear("producer_send_error", P),
        fetch(topic, name="log"),
        expect=all_of(
            any_of(*(client("reported", client=P).contains(one) for one in FENCED)),
            records("log").has_length(0),
        ),
        config=QUICK,
    )


@claim("producer.the-coordinator-of-a-transaction-is-looked-up", evidence=("KIP-98",),
       role="client", switches=("idempotence-off",),
       error=("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS",
              "CONCURRENT_TRANSACTIONS"))  # fmt: skip
def test_the_coordinator_of_a_transaction_is_looked_up(case):
    """A transactional producer whose InitProducerId meets an error that passes asks again."""
    return case.scenario(
        fault("InitProducerId", case.error, 1),
        _producer(case),
        init(),
        expect=client("count", api="InitProducerId").is_(2),
        config=QUICK,
    )


@claim("producer.a-commit-is-tried-again", evidence=("KIP-98",), role="client",
       switches=("commits-become-aborts",),
       error=("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"))  # fmt: skip
def test_a_commit_is_tried_again(case):
    """A producer whose EndTxn meets an error that passes asks again, and the commit succeeds."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        _producer(case),
        init(),
        begin(),
        sent(topic, ["v"]),
        fault("EndTxn", case.error, 1),
        end("commit"),
        expect=client("asked", api="EndTxn", path="committed").is_([True, True]),
        config=QUICK,
    )


@claim("producer.offsets-go-with-the-transaction", evidence=("KIP-98", "KIP-447"), role="client",
       switches=("commits-the-last-offset",))  # fmt: skip
def test_offsets_go_with_the_transaction(case):
    """Offsets that a producer is given for a group go by TxnOffsetCommit, before EndTxn."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        _producer(case),
        init(),
        begin(),
        send(topic, ["v"]),
        flush(),
        Tell("send_offsets", P, {
            "group": group, "offsets": [{"topic": topic, "partition": 0, "offset": 7}],
        }),
        Hear("transaction_complete", P, where={"operation": "send_offsets"}),
        end("commit"),
        expect=all_of(
            client("commits", topic=topic).is_([7]),
            client("order", names=["TxnOffsetCommit", "EndTxn"]).is_(
                ["TxnOffsetCommit", "EndTxn"]
            ),
        ),
        config=QUICK,
    )  # fmt: skip
