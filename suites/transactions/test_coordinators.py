"""Transaction coordinators: requests to the wrong broker, and what the next coordinator takes over.

Sources: TransactionCoordinator.onElection, TransactionStateManager.loadTransactionMetadata,
ProducerAppendInfo.checkCoordinatorEpoch at 1.0.2, 2.8.2, 4.3; KIP-98, KIP-460, KIP-664, KIP-890;
all five releases were asked.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import init_producer_id, resume_broker, start_broker
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import three_brokers
from touchstone.suites.kit.coordinators import FORMER
from touchstone.suites.kit.transactions import (
    ABORT,
    ADDED,
    CODE,
    COMMIT,
    FIRST_BATCHED,
    add_offsets,
    add_partitions,
    added_code,
    describe,
    end,
    record,
    send,
    settled,
)
from touchstone.suites.transactions.four_brokers import (
    END,
    HARMED,
    LEADER,
    ROW,
    ROWS,
    WHOLE,
    a_case,
    at,
    half_done,
    held_back,
    last,
    let_go,
    log_ready,
    moved,
    opened,
    over,
    preferred,
    seen,
    stable,
)


@claim(
    "transactions.half-done-ends-are-done-by-the-next-coordinator",
    evidence=("MISC-06", "KIP-98"),
    api="EndTxn",
    versions=range_("EndTxn", 0, 0),
    commit=(COMMIT, ABORT),
    **HARMED,
)
def test_half_done_ends_are_done_by_the_next_coordinator(case):
    """The next coordinator completes an end that the last one decided; until the markers are
    written EndTxn answers CONCURRENT_TRANSACTIONS and readers see no record.
    """
    topic, transaction, steps = a_case(case)
    before, after = at(transaction, "before"), at(transaction, "after")
    aborted = answer("read", f"{ROW}.aborted_transactions")
    return case.scenario(
        steps,
        held_back(topic),
        end(transaction, case.commit, name="decided", **before),
        end(transaction, case.commit, name="pending", **before),
        moved(transaction),
        Until(
            end(transaction, case.commit, name="still pending", **after),
            CODE, "==", ErrorCode.CONCURRENT_TRANSACTIONS,
        ),
        stable(topic, "held"),
        let_go(topic),
        settled(end(transaction, case.commit, name="ask", **after)),
        over(topic),
        end(transaction, not case.commit, name="otherwise", **after),
        seen(topic),
        expect=all_of(
            answer("decided", CODE).is_(ErrorCode.NONE),
            answer("pending", CODE).is_(ErrorCode.CONCURRENT_TRANSACTIONS),
            answer("held", END).is_(0),
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("otherwise", CODE).is_(ErrorCode.INVALID_TXN_STATE),
            aborted.has_length(0 if case.commit else 1),
        ),
    )  # fmt: skip


@claim(
    "transactions.half-done-ends-keep-the-next-coordinator-busy",
    evidence=("MISC-06", "KIP-98"),
    api="AddPartitionsToTxn",
    versions=range_("AddPartitionsToTxn", 0, 0),
    commit=(COMMIT, ABORT),
    **HARMED,
)
def test_half_done_ends_keep_the_next_coordinator_busy(case):
    """While the next coordinator completes an end, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn and
    InitProducerId answer CONCURRENT_TRANSACTIONS.
    """
    topic, transaction, steps = a_case(case)
    after = at(transaction, "after")
    return case.scenario(
        steps,
        half_done(topic, transaction, case.commit),
        Until(
            end(transaction, not case.commit, name="otherwise", **after),
            CODE, "==", ErrorCode.CONCURRENT_TRANSACTIONS,
        ),
        add_partitions(transaction, topic, name="ask", **after),
        add_offsets(transaction, case.group(), name="offsets", **after),
        init_producer_id(transaction, name="begin", **after),
        let_go(topic),
        over(topic),
        Until(init_producer_id(transaction, name="next", **after), CODE, "==", 0),
        expect=all_of(
            answer("otherwise", CODE).is_(ErrorCode.CONCURRENT_TRANSACTIONS),
            answer("ask", ADDED).is_(ErrorCode.CONCURRENT_TRANSACTIONS),
            answer("offsets", CODE).is_(ErrorCode.CONCURRENT_TRANSACTIONS),
            answer("begin", CODE).is_(ErrorCode.CONCURRENT_TRANSACTIONS),
            answer("next", "producer_id").is_(Ref("producer", "producer_id")),
            answer("next", "producer_epoch").is_(Ref("producer", "producer_epoch", 1)),
        ),
    )  # fmt: skip


@claim(
    "transactions.half-done-ends-are-described",
    evidence=("KIP-664",),
    api="DescribeTransactions",
    versions=range_("DescribeTransactions", 0),
    commit=(COMMIT, ABORT),
    **three_brokers.on("3.9,4.3", HARMED),
)
def test_half_done_ends_are_described(case):
    """DescribeTransactions at the next coordinator shows PrepareCommit or PrepareAbort with its
    partitions, then CompleteCommit or CompleteAbort without any.
    """
    topic, transaction, steps = a_case(case)
    path = "transaction_states[0]"
    word = "Commit" if case.commit else "Abort"
    after = at(transaction, "after")
    return case.scenario(
        steps,
        half_done(topic, transaction, case.commit),
        Until(describe(transaction, name="ask", **after), f"{path}.error_code", "==", 0),
        let_go(topic),
        over(topic),
        Until(
            describe(transaction, name="done", **after),
            f"{path}.transaction_state", "==", f"Complete{word}",
        ),
        expect=all_of(
            answer("ask", f"{path}.transaction_state").is_(f"Prepare{word}"),
            answer("ask", f"{path}.topics").has_length(1),
            answer("done", f"{path}.transaction_state").is_(f"Complete{word}"),
            answer("done", f"{path}.topics").has_length(0),
        ),
    )  # fmt: skip


@claim(
    "transactions.open-ones-go-on-at-the-next-coordinator",
    evidence=("MISC-06", "KIP-98"),
    api="EndTxn",
    versions=range_("EndTxn", 0, 0),
    commit=(COMMIT, ABORT),
    **HARMED,
)
def test_open_ones_go_on_at_the_next_coordinator(case):
    """An open transaction continues at the next coordinator with its partitions: it takes another
    one and ends.
    """
    topic, transaction, steps = a_case(case)
    other, after = case.topic("other"), at(transaction, "after")
    return case.scenario(
        three_brokers.placed(other, {0: ROWS["sent"]}),
        steps,
        moved(transaction),
        Until(add_partitions(transaction, other, name="added", **after), ADDED, "==", 0),
        send(transaction, other, record(b"later"), name="later", broker=LEADER),
        stable(topic, "open"),
        end(transaction, case.commit, name="ask", **after),
        over(topic),
        Until(stable(other, "over as well"), END, "==", 2),
        seen(topic),
        expect=all_of(
            answer("added", ADDED).is_(ErrorCode.NONE),
            answer("open", END).is_(0),
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("read", f"{ROW}.aborted_transactions").has_length(0 if case.commit else 1),
            answer("over as well", END).is_(2),
        ),
    )


@claim(
    "transactions.who-coordinated-before-writes-no-marker",
    evidence=("MISC-06", "KIP-98"),
    api="EndTxn",
    versions=range_("EndTxn", 0, 0),
    commit=(COMMIT, ABORT),
    **HARMED,
)
def test_who_coordinated_before_writes_no_marker(case):
    """A coordinator that was paused while another completed its transaction answers NOT_COORDINATOR
    when it resumes and writes no second marker.
    """
    topic, transaction, steps = a_case(case)
    after = at(transaction, "after")
    return case.scenario(
        steps,
        half_done(topic, transaction, case.commit, "pause"),
        let_go(topic),
        over(topic),
        resume_broker(FORMER),
        Until(
            end(transaction, case.commit, name="ask", broker=FORMER, connection="back"),
            CODE, "==", ErrorCode.NOT_COORDINATOR,
        ),
        settled(end(transaction, case.commit, name="done", **after)),
        last(topic),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NOT_COORDINATOR),
            answer("done", CODE).is_(ErrorCode.NONE),
            answer("end", END).is_(2),
        ),
    )  # fmt: skip


@claim(
    "transactions.who-returns-coordinates-no-more",
    evidence=("MISC-06", "KIP-98"),
    api="EndTxn",
    versions=range_("EndTxn", 0, 0),
    **HARMED,
)
def test_who_returns_coordinates_no_more(case):
    """A coordinator that was stopped and restarted answers NOT_COORDINATOR, and its open
    transaction ends at its successor.
    """
    topic, transaction, steps = a_case(case)
    return case.scenario(
        steps,
        moved(transaction, "stop"),
        start_broker(FORMER),
        Until(
            end(transaction, name="ask", broker=FORMER, connection="back"),
            CODE, "==", ErrorCode.NOT_COORDINATOR,
        ),
        Until(end(transaction, name="next", **at(transaction, "after")), CODE, "==", 0),
        over(topic),
        seen(topic),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NOT_COORDINATOR),
            answer("next", CODE).is_(ErrorCode.NONE),
            answer("read", f"{ROW}.aborted_transactions").has_length(0),
        ),
    )  # fmt: skip


@claim(
    "transactions.elections-move-their-coordinator",
    evidence=("MISC-06", "KIP-98", "KIP-460"),
    api="EndTxn",
    versions=range_("EndTxn", 0, 0),
    commit=(COMMIT, ABORT),
    **three_brokers.on("2.8,3.9,4.3", WHOLE),
)
def test_elections_move_their_coordinator(case):
    """Electing another leader of the transaction log moves the coordinator: the former one answers
    NOT_COORDINATOR, the new one ends the open transaction.
    """
    topic, transaction = case.topic(), case.transactional_id()
    before, after = at(transaction, "before"), at(transaction, "after")
    return case.scenario(
        three_brokers.placed(topic, {0: ROWS["sent"]}),
        log_ready(),
        preferred(1),
        opened(topic, transaction),
        preferred(2),
        Until(
            end(transaction, case.commit, name="former", **before),
            CODE,
            "==",
            ErrorCode.NOT_COORDINATOR,
        ),
        Until(end(transaction, case.commit, name="ask", **after), CODE, "==", 0),
        over(topic),
        seen(topic),
        expect=all_of(
            answer("former", CODE).is_(ErrorCode.NOT_COORDINATOR),
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("read", f"{ROW}.aborted_transactions").has_length(0 if case.commit else 1),
        ),
    )


@claim(
    "transactions.half-done-ends-are-done-by-who-is-elected",
    evidence=("MISC-06", "KIP-98", "KIP-460"),
    switches=("half-done-ends-forgotten",),
    api="EndTxn",
    versions=range_("EndTxn", 0, 0),
    **three_brokers.on("4.3", HARMED),
)
def test_half_done_ends_are_done_by_who_is_elected(case):
    """A coordinator that an election moved in completes an end that the former one decided."""
    topic, transaction = case.topic(), case.transactional_id()
    before, after = at(transaction, "before"), at(transaction, "after")
    return case.scenario(
        three_brokers.placed(topic, {0: ROWS["sent"]}, configs={"min.insync.replicas": 2}),
        log_ready(),
        preferred(1),
        opened(topic, transaction),
        held_back(topic),
        end(transaction, name="decided", **before),
        preferred(2),
        Until(
            end(transaction, name="pending", **after), CODE, "==", ErrorCode.CONCURRENT_TRANSACTIONS
        ),
        let_go(topic),
        settled(end(transaction, name="ask", **after)),
        over(topic),
        seen(topic),
        expect=all_of(
            answer("decided", CODE).is_(ErrorCode.NONE),
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("read", f"{ROW}.last_stable_offset").is_(2),
        ),
    )


@claim(
    "transactions.ends-that-raise-the-epoch-wait-for-markers-too",
    evidence=("KIP-890",),
    api="EndTxn",
    versions=range_("EndTxn", 5),
    commit=(COMMIT, ABORT),
    decided=(0, 5),
    **three_brokers.on("4.3", HARMED),
)
def test_ends_that_raise_the_epoch_wait_for_markers_too(case):
    """EndTxn version 5 answers CONCURRENT_TRANSACTIONS while markers cannot be written, for a
    commit, an abort and a repeated end.
    """
    topic, transaction, steps = a_case(case)
    own = at(transaction, "before")
    return case.scenario(
        steps,
        held_back(topic),
        end(transaction, case.commit, version=case.decided, name="decided", **own),
        end(transaction, COMMIT, version=case.version, name="commit", **own),
        end(transaction, ABORT, version=case.version, name="abort", **own),
        let_go(topic),
        over(topic),
        expect=all_of(
            answer("decided", CODE).is_(ErrorCode.NONE),
            answer("commit", CODE).is_(ErrorCode.CONCURRENT_TRANSACTIONS),
            answer("abort", CODE).is_(ErrorCode.CONCURRENT_TRANSACTIONS),
        ),
    )


@claim(
    "transactions.half-done-ones-are-not-verified",
    evidence=("KIP-890",),
    api="AddPartitionsToTxn",
    versions=range_("AddPartitionsToTxn", FIRST_BATCHED),
    commit=(COMMIT, ABORT),
    **three_brokers.on("3.9,4.3", HARMED),
)
def test_half_done_ones_are_not_verified(case):
    """AddPartitionsToTxn with verify_only answers CONCURRENT_TRANSACTIONS while the transaction's
    markers cannot be written.
    """
    topic, transaction, steps = a_case(case)
    own = at(transaction, "before")
    asked = add_partitions(transaction, topic, version=case.version, verify=True, name="ask", **own)
    return case.scenario(
        steps,
        held_back(topic),
        end(transaction, case.commit, name="decided", **own),
        asked,
        let_go(topic),
        over(topic),
        expect=answer("ask", added_code(case.version)).is_(ErrorCode.CONCURRENT_TRANSACTIONS),
    )


@claim(
    "transactions.only-their-coordinator-takes-requests",
    evidence=("KIP-98",),
    api="EndTxn",
    versions=range_("EndTxn", 0),
    **WHOLE,
)
def test_only_their_coordinator_takes_requests(case):
    """A broker that is not the transactional id's coordinator answers NOT_COORDINATOR and changes
    nothing.
    """
    topic, transaction, steps = a_case(case)
    return case.scenario(
        steps,
        end(transaction, ABORT, version=case.version, name="ask"),
        add_partitions(transaction, topic, name="partitions"),
        add_offsets(transaction, case.group(), name="offsets"),
        init_producer_id(transaction, name="begin"),
        end(transaction, COMMIT, name="done", **at(transaction, "before")),
        over(topic),
        seen(topic),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NOT_COORDINATOR),
            answer("partitions", ADDED).is_(ErrorCode.NOT_COORDINATOR),
            answer("offsets", CODE).is_(ErrorCode.NOT_COORDINATOR),
            answer("begin", CODE).is_(ErrorCode.NOT_COORDINATOR),
            answer("done", CODE).is_(ErrorCode.NONE),
            answer("read", f"{ROW}.aborted_transactions").has_length(0),
        ),
    )
