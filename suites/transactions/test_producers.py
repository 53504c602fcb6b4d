"""InitProducerId with a transactional id: timeouts, producer epochs, and resuming a producer
(KIP-360).

Sources: TransactionCoordinator.handleInitProducerId and TransactionMetadata at 1.0.2, 2.2.1, 2.8.2;
KIP-98, KIP-360, KIP-588; all five releases were asked.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.steps import coordinator_ready, init_producer_id
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.transactions import (
    CLUSTER,
    EPOCH,
    PRODUCER,
    TRANSACTION,
    a_producer,
    initialised,
)

CODE = "error_code"
MOST_MS = 15 * 60 * 1000  # transaction.max.timeout.ms by default
INIT = {"api": "InitProducerId", "versions": range_("InitProducerId", 0), "config": CLUSTER}
KNOWN = INIT | {"versions": range_("InitProducerId", 3)}


def fenced(version):
    """PRODUCER_FENCED where the version knows it (KIP-588)."""
    return ErrorCode.PRODUCER_FENCED if version >= 4 else ErrorCode.INVALID_PRODUCER_EPOCH


@claim(
    "transactions.impossible-timeouts-are-refused",
    evidence=("KIP-98",),
    switches=("transaction-timeout-not-validated",),
    timeout_ms=(-1, 0, MOST_MS + 1, 2**31 - 1),
    **INIT,
)
def test_impossible_timeouts_are_refused(case):
    """InitProducerId with a transaction timeout below 1 or above transaction.max.timeout.ms answers
    INVALID_TRANSACTION_TIMEOUT.
    """
    transaction = case.transactional_id()
    return case.scenario(
        coordinator_ready(transaction, TRANSACTION),
        init_producer_id(transaction, version=case.version, timeout_ms=case.timeout_ms, name="ask"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.INVALID_TRANSACTION_TIMEOUT),
            answer("ask", "producer_id").is_(-1),
        ),
    )


@claim(
    "transactions.timeouts-may-be-as-long-as-the-setting",
    evidence=("KIP-98",),
    timeout_ms=(1, MOST_MS),
    **INIT,
)
def test_timeouts_may_be_as_long_as_the_setting(case):
    """InitProducerId accepts transaction timeouts from 1 ms up to transaction.max.timeout.ms."""
    transaction = case.transactional_id()
    return case.scenario(
        coordinator_ready(transaction, TRANSACTION),
        initialised(transaction, "ask", version=case.version, timeout_ms=case.timeout_ms),
        expect=answer("ask", "producer_epoch").is_(0),
    )


@claim("transactions.epochs-count-up", evidence=("KIP-98", "MISC-06"), **INIT)
def test_epochs_count_up(case):
    """Each InitProducerId keeps the transactional id's producer id and raises its epoch by one."""
    transaction = case.transactional_id()
    asked = [
        initialised(transaction, word, version=case.version) for word in ("one", "two", "three")
    ]
    return case.scenario(
        coordinator_ready(transaction, TRANSACTION),
        asked,
        expect=all_of(
            *(
                answer(word, "producer_id").is_(Ref("one", "producer_id"))
                for word in ("two", "three")
            ),
            answer("one", "producer_epoch").is_(0),
            answer("two", "producer_epoch").is_(1),
            answer("three", "producer_epoch").is_(2),
        ),
    )


@claim("transactions.ids-have-producers-of-their-own", evidence=("KIP-98",), **INIT)
def test_ids_have_producers_of_their_own(case):
    """Two transactional ids get different producer ids."""
    one, two = case.transactional_id("one"), case.transactional_id("two")
    return case.scenario(
        coordinator_ready(one, TRANSACTION),
        initialised(one, "first", version=case.version),
        initialised(two, "second", version=case.version),
        expect=all_of(
            answer("second", "producer_id").is_not(Ref("first", "producer_id")),
            answer("second", "producer_epoch").is_(0),
        ),
    )


@claim("transactions.bumps-can-be-asked-for-again", evidence=("KIP-360",), **KNOWN)
def test_bumps_can_be_asked_for_again(case):
    """A repeated InitProducerId with the epoch before its bump answers the same bumped epoch."""
    transaction = case.transactional_id()
    known = {"producer_id": PRODUCER, "producer_epoch": EPOCH, "version": case.version}
    return case.scenario(
        a_producer(transaction),
        init_producer_id(transaction, name="bump", **known),
        init_producer_id(transaction, name="again", **known),
        expect=all_of(
            answer("bump", "producer_epoch").is_(Ref("producer", "producer_epoch", 1)),
            answer("again", "producer_id").is_(Ref("producer", "producer_id")),
            answer("again", "producer_epoch").is_(Ref("bump", "producer_epoch")),
        ),
    )


@claim(
    "transactions.epochs-long-over-are-fenced",
    evidence=("KIP-360",),
    switches=("fencing-skipped",),
    **KNOWN,
)
def test_epochs_long_over_are_fenced(case):
    """InitProducerId with an epoch that another InitProducerId replaced answers PRODUCER_FENCED
    (INVALID_PRODUCER_EPOCH before version 4).
    """
    transaction = case.transactional_id()
    known = {"producer_id": PRODUCER, "producer_epoch": EPOCH, "version": case.version}
    return case.scenario(
        a_producer(transaction),
        initialised(transaction, "successor"),
        init_producer_id(transaction, name="ask", **known),
        initialised(transaction, "after"),
        expect=all_of(
            answer("ask", CODE).is_(fenced(case.version)),
            answer("after", "producer_epoch").is_(Ref("successor", "producer_epoch", 1)),
        ),
    )


@claim("transactions.epochs-to-come-are-fenced", evidence=("KIP-360",), **KNOWN)
def test_epochs_to_come_are_fenced(case):
    """InitProducerId with an epoch above the producer's answers PRODUCER_FENCED
    (INVALID_PRODUCER_EPOCH before version 4).
    """
    transaction = case.transactional_id()
    higher = {"producer_id": PRODUCER, "producer_epoch": 7, "version": case.version}
    return case.scenario(
        a_producer(transaction),
        init_producer_id(transaction, name="ask", **higher),
        expect=answer("ask", CODE).is_(fenced(case.version)),
    )


@claim("transactions.new-ids-take-any-producer", evidence=("KIP-360",), **KNOWN)
def test_new_ids_take_any_producer(case):
    """InitProducerId with an unknown transactional id ignores the given producer and answers a new
    producer id at epoch 0.
    """
    transaction = case.transactional_id()
    strange = {"producer_id": 123456789, "producer_epoch": 5}
    return case.scenario(
        coordinator_ready(transaction, TRANSACTION),
        initialised(transaction, "ask", version=case.version, **strange),
        expect=all_of(
            answer("ask", "producer_id").is_not(123456789),
            answer("ask", "producer_epoch").is_(0),
        ),
    )
