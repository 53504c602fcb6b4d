"""The matrix: every request of a transaction's life in every state of a transactional id.

One claim per cell, made from two tables: `states.STATES` are the rows, REQUESTS the columns, and a
column names its outcome for each row, by a word of OUTCOMES. A word covers what versions and
releases make of it: PRODUCER_FENCED is INVALID_PRODUCER_EPOCH in versions before KIP-588, and what
KIP-890 refuses since 3.9 succeeded before.

Sources: TransactionCoordinator at 1.0.2, 2.2.1, 2.8.2 and trunk of 2024-10; KIP-98, KIP-360,
KIP-447, KIP-588, KIP-890; all five releases were asked.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import Expectation, all_of, answer, fits
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.steps import coordinator_ready, init_producer_id
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.transactions import (
    ABORT,
    CLUSTER,
    CODE,
    COMMIT,
    COMMITTED_OFFSET,
    EPOCH,
    PRODUCED,
    PRODUCER,
    add_offsets,
    add_partitions,
    added_code,
    commit_offset,
    describe,
    describe_producers,
    end,
    list_transactions,
    record,
    send,
)
from touchstone.suites.transactions.states import STATES, State, steps_into

VERIFYING, BUMPING = "3.9+", 5

OUTCOMES = {
    "done": "succeeds",
    "busy": "answers CONCURRENT_TRANSACTIONS",
    "mapping": "answers INVALID_PRODUCER_ID_MAPPING",
    "state": "answers INVALID_TXN_STATE",
    "fenced": "answers PRODUCER_FENCED (INVALID_PRODUCER_EPOCH in older versions)",
    "done; state": "succeeds; version 5 answers INVALID_TXN_STATE",
    "state; done": "answers INVALID_TXN_STATE; version 5 succeeds",
    "fenced; state": "answers PRODUCER_FENCED; version 5 INVALID_TXN_STATE",
    "fenced; done": "answers PRODUCER_FENCED; version 5 succeeds",
    "fenced; done since 4": "answers PRODUCER_FENCED; since 4.3 it succeeds",
    "outside": "succeeds until 2.8; later in versions that add it to the transaction themselves,"
    " while others answer TRANSACTION_ABORTABLE or INVALID_TXN_STATE",
    "mapping since": "succeeds until 2.8; later it answers INVALID_PRODUCER_ID_MAPPING",
    "epoch since": "succeeds until 2.8; later it answers INVALID_PRODUCER_EPOCH",
    "too few": "answers NOT_ENOUGH_REPLICAS",
    "abortable": "answers TRANSACTION_ABORTABLE",
    "unknown": "answers TRANSACTIONAL_ID_NOT_FOUND",
}


class Request(NamedTuple):
    """A column: the request, and a word of OUTCOMES for each state."""

    name: str
    sentence: str
    api: str
    first: int  # version
    first_fenced: int  # the first version that knows PRODUCER_FENCED
    first_abortable: int  # the first version that knows TRANSACTION_ABORTABLE
    ask: Callable[[Any, Any, Any], Any]
    code: Callable[[int], str]
    words: Mapping[str, str]


def _rows(**words: str) -> dict[str, str]:
    """A word for each state; `ending` stands for committing and aborting."""
    ending = words.pop("ending", None)
    if ending is not None:
        words |= {"committing": ending, "aborting": ending}
    return {name.replace("_", "-"): word for name, word in words.items()}


ADDING = _rows(
    absent="mapping", foreign="mapping", empty="done", ongoing="done", ending="busy",
    committed="done", aborted="done", fenced="fenced", timed_out="fenced",
)  # fmt: skip
OUTSIDE = _rows(
    absent="mapping since", foreign="mapping since", empty="outside", ongoing="outside",
    committed="outside", aborted="outside", fenced="epoch since", timed_out="epoch since",
)  # fmt: skip
SEEN = _rows(
    absent="done", foreign="done", empty="done", ongoing="done", ending="done", committed="done",
    aborted="done", fenced="done", timed_out="done",
)  # fmt: skip


def _constant(path: str) -> Callable[[int], str]:
    return lambda version: path


REQUESTS = (
    Request(
        "init", "InitProducerId", "InitProducerId", 0, 4, 99,
        lambda c, t, topic: init_producer_id(t, version=c.version, name="ask"),
        _constant(CODE),
        SEEN | _rows(ongoing="busy", ending="busy"),
    ),
    Request(
        "init-known", "InitProducerId with producer id and epoch", "InitProducerId", 3, 4, 99,
        lambda c, t, topic: init_producer_id(
            t, version=c.version, producer_id=PRODUCER, producer_epoch=EPOCH, name="ask"
        ),
        _constant(CODE),
        SEEN | _rows(
            foreign="fenced", ongoing="busy", ending="busy", fenced="fenced",
            timed_out="fenced; done since 4",
        ),
    ),
    Request(
        "add", "AddPartitionsToTxn", "AddPartitionsToTxn", 0, 2, 99,
        lambda c, t, topic: add_partitions(t, topic, 1, version=c.version, name="ask"),
        added_code,
        ADDING,
    ),
    Request(
        "add-same", "AddPartitionsToTxn of the transaction's own partition", "AddPartitionsToTxn",
        0, 2, 99,
        lambda c, t, topic: add_partitions(t, topic, 0, version=c.version, name="ask"),
        added_code,
        ADDING,
    ),
    Request(
        "verify", "AddPartitionsToTxn with verify_only", "AddPartitionsToTxn", 4, 2, 4,
        lambda c, t, topic: add_partitions(
            t, topic, 0, 1, version=c.version, verify=True, name="ask"
        ),
        lambda version: added_code(version).replace("partition[0]", "partition[*]"),
        ADDING | _rows(empty="abortable", committed="abortable", aborted="abortable"),
    ),
    Request(
        "add-offsets", "AddOffsetsToTxn", "AddOffsetsToTxn", 0, 2, 99,
        lambda c, t, topic: add_offsets(t, c.group(), version=c.version, name="ask"),
        _constant(CODE),
        ADDING,
    ),
    Request(
        "commit-offset", "TxnOffsetCommit for a group that was not added", "TxnOffsetCommit",
        0, 99, 4,
        lambda c, t, topic: commit_offset(t, c.group(), topic, version=c.version, name="ask"),
        _constant(COMMITTED_OFFSET),
        OUTSIDE | _rows(ending="done"),
    ),
    Request(
        "commit", "EndTxn that commits", "EndTxn", 0, 2, 99,
        lambda c, t, topic: end(t, COMMIT, version=c.version, name="ask"),
        _constant(CODE),
        ADDING | _rows(
            empty="state", committed="done; state", aborted="state", timed_out="fenced; state"
        ),
    ),
    Request(
        "abort", "EndTxn that aborts", "EndTxn", 0, 2, 99,
        lambda c, t, topic: end(t, ABORT, version=c.version, name="ask"),
        _constant(CODE),
        ADDING | _rows(
            empty="state; done", committed="state; done", aborted="done", timed_out="fenced; done"
        ),
    ),
    Request(
        "send", "Produce to a partition that was not added", "Produce", 3, 99, 11,
        lambda c, t, topic: send(t, topic, record(b"more", 0), 1, version=c.version, name="ask"),
        _constant(PRODUCED),
        OUTSIDE | _rows(ending="too few"),
    ),
    Request(
        "describe", "DescribeTransactions", "DescribeTransactions", 0, 0, 99,
        lambda c, t, topic: describe(t, name="ask"),
        _constant("transaction_states[0].error_code"),
        SEEN | _rows(absent="unknown"),
    ),
    Request(
        "list", "ListTransactions", "ListTransactions", 0, 0, 99,
        lambda c, t, topic: list_transactions(version=c.version, name="ask"),
        _constant(CODE),
        SEEN,
    ),
    Request(
        "producers", "DescribeProducers", "DescribeProducers", 0, 0, 99,
        lambda c, t, topic: describe_producers(topic, 0, 1, name="ask"),
        _constant("topics[0].partitions[0].error_code"),
        SEEN,
    ),
)  # fmt: skip
ADDS_BY_ITSELF = {"TxnOffsetCommit": 5, "Produce": 12}


def expected(request: Request, word: str, version: int, release: str) -> int:
    """The code that a word means for this version of this release."""
    older, newer = (word.split("; ") * 2)[:2]
    word = newer if version >= BUMPING and request.api == "EndTxn" else older
    if newer == "done since 4":
        word = "done" if fits(release, "4.0+") else "fenced"
    since = fits(release, VERIFYING)
    if word == "outside" and since and version < ADDS_BY_ITSELF[request.api]:
        return (
            ErrorCode.TRANSACTION_ABORTABLE
            if version >= request.first_abortable
            else ErrorCode.INVALID_TXN_STATE
        )
    return {
        "done": 0,
        "busy": ErrorCode.CONCURRENT_TRANSACTIONS,
        "mapping": ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        "state": ErrorCode.INVALID_TXN_STATE,
        "fenced": ErrorCode.PRODUCER_FENCED
        if version >= request.first_fenced
        else ErrorCode.INVALID_PRODUCER_EPOCH,
        "outside": 0,
        "mapping since": ErrorCode.INVALID_PRODUCER_ID_MAPPING if since else 0,
        "epoch since": ErrorCode.INVALID_PRODUCER_EPOCH if since else 0,
        "too few": ErrorCode.NOT_ENOUGH_REPLICAS,
        "abortable": ErrorCode.TRANSACTION_ABORTABLE,
        "unknown": ErrorCode.TRANSACTIONAL_ID_NOT_FOUND,
    }[word]


STARTS = {
    "absent": [],
    "foreign": [],
    "empty": [],
    "ongoing": [0],
    "committing": [0],
    "aborting": [0],
}
DESCRIBED = {"ongoing": "Ongoing", "committed": "CompleteCommit", "aborted": "CompleteAbort",
             "timed-out": "CompleteAbort"}  # fmt: skip
BUMPS = {"fenced": 3, ("init", "timed-out"): 2}  # how far InitProducerId raises the epoch, if not 1


def shown(request: str, state: str) -> list[Expectation]:
    """What an answer without error says beside."""
    if request in ("init", "init-known"):
        owner = answer("ask", "producer_id")
        bump = 0 if state == "absent" else BUMPS.get(state, BUMPS.get((request, state), 1))
        return [
            owner.is_not(PRODUCER) if state in ("absent", "foreign") else owner.is_(PRODUCER),
            answer("ask", "producer_epoch").is_(Ref("producer", "producer_epoch", bump)),
        ]
    described = DESCRIBED.get(state, "Empty")
    if request == "describe":
        return [answer("ask", "transaction_states[0].transaction_state").is_(described)]
    if request == "list":
        own = [] if state in ("absent", "foreign") else [described]
        return [answer("ask", "transaction_states[*].transaction_state").is_(own)]
    if request == "producers":
        place = "topics[0].partitions[*].active_producers[*].current_txn_start_offset"
        return [answer("ask", place).is_([STARTS.get(state, [-1]), []])]
    return []


def cell(state: State, request: Request) -> Callable[[Any], None]:
    """The claim of one cell."""
    word = request.words[state.name]

    def test(case: Any) -> Any:
        transaction, topic = case.transactional_id(), case.topic()
        code = expected(request, word, case.version, case.release)
        return case.scenario(
            steps_into(state.name, transaction, topic),
            *([coordinator_ready(case.group())] if "offset" in request.name else []),
            request.ask(case, transaction, topic),
            state.after(transaction, topic),
            expect=all_of(
                answer("ask", request.code(case.version)).contains(code)
                if "[*]" in request.code(case.version)
                else answer("ask", request.code(case.version)).is_(code),
                *(shown(request.name, state.name) if code == 0 else ()),
            ),
        )

    test.__doc__ = f"{request.sentence} {state.sentence} {OUTCOMES[word]}."
    test.__name__ = test.__qualname__ = f"test_{request.name}_{state.name}".replace("-", "_")
    test.__module__ = __name__
    return claim(
        f"transactions.{request.name}-{state.name}",
        evidence=("KIP-98", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
        api=request.api,
        versions=range_(request.api, request.first),
        releases=state.releases,
        config=CLUSTER,
    )(test)


# From 3.0 on, where an end that goes on takes a cluster: test_coordinators.py asks these there.
LATE = frozenset({"describe", "list", "verify"})
for _state in STATES.values():
    for _request in REQUESTS:
        if _state.releases is not None and _request.name in LATE:
            continue
        _test = cell(_state, _request)
        globals()[_test.__name__] = _test
del _test
