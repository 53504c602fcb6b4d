"""InitProducerId without a transactional id: producer ids of idempotent producers.

Sources: TransactionCoordinator.handleInitProducerId at 1.0.2 and 2.8.2, KafkaApis at 2.8.2; KIP-98,
KIP-360; the five releases were asked.
"""

from touchstone.harness.model.claim import OBSERVED, claim, every, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.steps import init_producer_id, producer_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.topics import among


@claim(
    "produce.producer-ids-begin-with-epoch-zero",
    evidence=("KIP-98",),
    api="InitProducerId",
    versions=every("InitProducerId"),
)
def test_producer_ids_begin_with_epoch_zero(case):
    """InitProducerId without a transactional id answers a new producer id with
    epoch 0 each time.
    """
    return case.scenario(
        producer_ready(),
        init_producer_id(version=case.version, name="one"),
        init_producer_id(version=case.version, name="two"),
        expect=all_of(
            answer("one", "error_code").is_(ErrorCode.NONE),
            answer("one", "producer_id").at_least(0),
            answer("one", "producer_epoch").is_(0),
            answer("two", "producer_id").is_not(Ref("one", "producer_id")),
            answer("two", "producer_epoch").is_(0),
        ),
    )


@claim(
    "produce.producer-ids-ignore-the-timeout",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    level=OBSERVED,
    api="InitProducerId",
    versions=every("InitProducerId"),
    where=among(0, 4),
    timeout_ms=(-1, 0, 2147483647),
)
def test_producer_ids_ignore_the_timeout(case):
    """InitProducerId without a transactional id accepts any transaction timeout."""
    return case.scenario(
        producer_ready(),
        init_producer_id(version=case.version, timeout_ms=case.timeout_ms, name="ask"),
        expect=all_of(
            answer("ask", "error_code").is_(ErrorCode.NONE), answer("ask", "producer_epoch").is_(0)
        ),
    )  # fmt: skip


@claim(
    "produce.half-a-producer-is-refused",
    evidence=("KIP-360",),
    api="InitProducerId",
    versions=range_("InitProducerId", 3),
    half=("id", "epoch"),
)
def test_half_a_producer_is_refused(case):
    """InitProducerId with a producer id but no epoch, or the reverse, answers INVALID_REQUEST."""
    given = {"producer_id": 5} if case.half == "id" else {"producer_epoch": 5}
    return case.scenario(
        producer_ready(),
        init_producer_id(version=case.version, name="ask", **given),
        expect=all_of(
            answer("ask", "error_code").is_(ErrorCode.INVALID_REQUEST),
            answer("ask", "producer_id").is_(-1),
        ),
    )


@claim(
    "produce.an-empty-transactional-id-is-refused",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    level=OBSERVED,
    api="InitProducerId",
    versions=every("InitProducerId"),
)
def test_an_empty_transactional_id_is_refused(case):
    """InitProducerId with an empty transactional id answers INVALID_REQUEST."""
    return case.scenario(
        init_producer_id("", version=case.version, name="ask"),
        expect=answer("ask", "error_code").is_(ErrorCode.INVALID_REQUEST),
    )


@claim(
    "produce.a-known-producer-gets-a-new-id",
    evidence=("KIP-360", "observed on 2.8.2, 3.9.2 and 4.3.1"),
    level=OBSERVED,
    api="InitProducerId",
    versions=range_("InitProducerId", 3),
)
def test_a_known_producer_gets_a_new_id(case):
    """InitProducerId with a producer id and epoch but no transactional id answers a new producer
    id.
    """
    known = {"producer_id": Ref("producer ids", "producer_id"), "producer_epoch": 0}
    return case.scenario(
        producer_ready(),
        init_producer_id(version=case.version, name="ask", **known),
        expect=all_of(
            answer("ask", "error_code").is_(ErrorCode.NONE),
            answer("ask", "producer_id").is_not(Ref("producer ids", "producer_id")),
            answer("ask", "producer_epoch").is_(0),
        ),
    )
