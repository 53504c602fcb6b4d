"""The states of a transactional id, as steps that bring it there: the rows of the matrix.

Each way leaves a step "producer" whose answer is the producer that the request under test names. In
four states it is not the transactional id's: the id is unknown (`absent`), another producer has it
(`foreign`), or its epoch is fenced, by a second InitProducerId (`fenced`) or because the
coordinator aborted a transaction after its timeout (`timed-out`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import a_topic, coordinator_ready, list_offsets
from touchstone.suites.kit.transactions import (
    ABORT,
    COMMIT,
    READ_COMMITTED,
    TRANSACTION,
    a_producer,
    add_partitions,
    end,
    ended,
    held_back,
    initialised,
    let_go,
    send,
    settled,
)

PARTITIONS = 2
NEXT_EPOCH = Ref("producer", "producer_epoch", 1)


class State(NamedTuple):
    """A row: the steps that lead there, and what undoes them where they would last."""

    name: str
    sentence: str
    steps: Callable[[Any, Any], list[Any]]
    after: Callable[[Any, Any], list[Any]] = lambda transaction, topic: []
    releases: str | None = None


def _absent(transaction: Any, topic: Any) -> list[Any]:
    return [coordinator_ready(transaction, TRANSACTION), *initialised(None)]


def _foreign(transaction: Any, topic: Any) -> list[Any]:
    return [*a_producer(transaction, name="owner"), *initialised(None)]


def _empty(transaction: Any, topic: Any) -> list[Any]:
    return a_producer(transaction)


def _ongoing(transaction: Any, topic: Any) -> list[Any]:
    return [
        *a_producer(transaction),
        add_partitions(transaction, topic, 0, name="begun"),
        send(transaction, topic, name="sent"),
    ]


def _ending(commit: bool) -> Callable[[Any, Any], list[Any]]:
    def steps(transaction: Any, topic: Any) -> list[Any]:
        return [
            *_ongoing(transaction, topic),
            *held_back(topic),
            end(transaction, commit, name="ending"),
        ]

    return steps


def _after_ending(commit: bool) -> Callable[[Any, Any], list[Any]]:
    return lambda transaction, topic: let_go(topic, transaction, commit)


def _over(commit: bool) -> Callable[[Any, Any], list[Any]]:
    def steps(transaction: Any, topic: Any) -> list[Any]:
        return [*_ongoing(transaction, topic), *ended(transaction, commit)]

    return steps


def _fenced(transaction: Any, topic: Any) -> list[Any]:
    return [*_ongoing(transaction, topic), *initialised(transaction, name="successor")]


def _timed_out(transaction: Any, topic: Any) -> list[Any]:
    stable = list_offsets(topic, version=2, isolation=READ_COMMITTED, name="given up")
    return [
        *a_producer(transaction, timeout_ms=300),
        add_partitions(transaction, topic, 0, name="begun"),
        send(transaction, topic, name="sent"),
        Until(stable, "topics[0].partitions[0].offset", ">=", 2),
        settled(end(transaction, ABORT, epoch=NEXT_EPOCH, name="over")),
    ]


STATES: dict[str, State] = {
    state.name: state
    for state in (
        State("absent", "of an unknown transactional id", _absent),
        State("foreign", "with another producer's id", _foreign),
        State("empty", "before the first transaction", _empty),
        State("ongoing", "during a transaction", _ongoing),
        State("committing", "while commit markers cannot be written", _ending(COMMIT),
              _after_ending(COMMIT), "1.0-2.8"),
        State("aborting", "while abort markers cannot be written", _ending(ABORT),
              _after_ending(ABORT), "1.0-2.8"),
        State("committed", "after a commit", _over(COMMIT)),
        State("aborted", "after an abort", _over(ABORT)),
        State("fenced", "with a fenced producer epoch", _fenced),
        State("timed-out", "after the transaction's timeout", _timed_out),
    )
}  # fmt: skip


def steps_into(name: str, transaction: Any, topic: Any) -> list[Any]:
    """A topic of two partitions and the steps into the state."""
    return [*a_topic(topic, PARTITIONS), *STATES[name].steps(transaction, topic)]
