"""The producer whose sends count together or not at all, with the offsets of what they came from.

One transactional id has one producer: `init` fences whoever had it before and waits until what that
one left open is over. Then `begin`, sends, perhaps `send_offsets`, and `commit` or `abort`.

What an error code of a coordinator means is the table `REACTIONS`. Some errors end the transaction
(`abort` makes the producer good again), some end the producer (somebody else has its id); until
then every call but the one that helps raises the error. After a batch that may or may not have been
stored nobody knows the sequence, so such an abort is followed by a new epoch (KIP-360); a broker
that cannot give one ends the producer.

With transactions of version 2 (KIP-890) a partition enters the transaction with its first batch and
a group with its first offsets, and every end is the beginning of a new epoch; before, coordinators
are told of both beforehand. Which it is stands in the cluster's features.

Sources: TransactionManager at 2.2.1, 3.9.2, 4.3.1; KIP-98, KIP-360, KIP-447, KIP-588, KIP-890.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from typing import Any

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.errors import is_retriable
from touchstone.reference_impl.wire.schema import Struct

from .connection import SOFTWARE
from .coordinator import ANY_VERSION, MOVED, TRANSACTION, Coordinator, code_of
from .flow import LATEST_VERSION, Answer, ClientError, Flow, KafkaError, TopicPartition
from .group_offsets import OffsetsToCommit, first_error, rows
from .metadata import View
from .producer import Producer
from .producer_batch import Delivery, ProducerBatch
from .sequences import Sequences

_V_BUMPS = 3  # InitProducerId that names the producer (KIP-360)
_V_MEMBERS = 3  # TxnOffsetCommit that names the member (KIP-447)
_V2_PRODUCE, _V2_OFFSETS, _V2_END = 12, 5, 5  # the first versions of transactions version 2
_V_ONE_PRODUCER = 3  # AddPartitionsToTxn; later ones are for brokers


class Does(Enum):
    """What an error of a coordinator does."""

    AGAIN = "asked again after a while"
    ELSEWHERE = "asked again, of whoever is the coordinator now"
    ABORT = "the transaction must be aborted"
    RENEW = "the transaction must be aborted and the epoch be a new one"
    END = "the producer is over"


_WAIT: dict[int, Does] = {
    **dict.fromkeys(MOVED, Does.ELSEWHERE),
    E.COORDINATOR_LOAD_IN_PROGRESS: Does.AGAIN,
    E.CONCURRENT_TRANSACTIONS: Does.AGAIN,
    E.TRANSACTION_ABORTABLE: Does.ABORT,
}
_UNKNOWN: dict[int, Does] = dict.fromkeys(
    (E.UNKNOWN_PRODUCER_ID, E.INVALID_PRODUCER_ID_MAPPING), Does.RENEW
)
REACTIONS: dict[str, dict[int, Does]] = {
    "InitProducerId": _WAIT,
    "AddPartitionsToTxn": _WAIT
    | _UNKNOWN
    | {
        E.UNKNOWN_TOPIC_OR_PARTITION: Does.AGAIN,
        E.TOPIC_AUTHORIZATION_FAILED: Does.ABORT,
    },
    "AddOffsetsToTxn": _WAIT | _UNKNOWN | {E.GROUP_AUTHORIZATION_FAILED: Does.ABORT},
    "TxnOffsetCommit": _WAIT
    | {
        E.REQUEST_TIMED_OUT: Does.ELSEWHERE,
        E.UNKNOWN_TOPIC_OR_PARTITION: Does.AGAIN,
        E.GROUP_AUTHORIZATION_FAILED: Does.ABORT,
        E.FENCED_INSTANCE_ID: Does.ABORT,
        E.UNKNOWN_MEMBER_ID: Does.ABORT,
        E.ILLEGAL_GENERATION: Does.ABORT,
    },
    "EndTxn": _WAIT | _UNKNOWN,
}
_ADDING = frozenset({"AddPartitionsToTxn", "AddOffsetsToTxn"})
_FENCED = frozenset({E.PRODUCER_FENCED, E.INVALID_PRODUCER_EPOCH})
# a batch refused with one of these is the end of its producer, not of its transaction
_FATAL_BATCHES = frozenset(
    {
        E.PRODUCER_FENCED,
        E.CLUSTER_AUTHORIZATION_FAILED,
        E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        E.UNSUPPORTED_VERSION,
    }
)


class State(Enum):
    NEW = "init comes first"
    READY = "begin comes next"
    OPEN = "in a transaction"
    FAILED = "abort comes next"
    COMMITTING = "a commit whose end is not known; commit again"
    ABORTING = "an abort whose end is not known; abort again"
    OVER = "nothing more can be done with this producer"


_UNACKED = (
    "The client hasn't received acknowledgment for some previously sent messages and can no longer"
    " retry them. It is safe to abort the transaction and continue."
)


class Fenced(KafkaError):
    """Another producer has this transactional id."""


class Aborted(ClientError):
    """The record was not sent: its transaction was aborted before."""


class TransactionalProducer(Producer):
    def __init__(
        self,
        view: View,
        transactional_id: str,
        *,
        transaction_timeout_ms: int = 60_000,
        **options: Any,
    ):
        if options.get("idempotence", True) is False:
            raise ClientError("transactions need idempotence (PROD-08)")
        self.transactional_id = transactional_id
        super().__init__(view, **(options | {"idempotence": True}))
        self._sender.transactional_id = transactional_id
        self.transaction_timeout_ms = transaction_timeout_ms
        self.coordinator = Coordinator(
            view, transactional_id, TRANSACTION, request_timeout_ms=self.options.request_timeout_ms
        )
        self.state = State.NEW
        self.error: ClientError | None = None
        self.second_version = False
        self._added: set[TopicPartition] = set()
        self._groups: dict[str, Coordinator] = {}
        self._started = False  # a coordinator knows of this transaction
        self._renew = False  # the next transaction needs a new epoch
        self._can_renew = False

    # --- what the application does -------------------------------------------------------------

    def init(self) -> Flow[None]:
        """Take the id: its former producer is fenced and its open transaction over."""
        self._must_be(State.NEW)
        yield from self._take_epoch()
        outcome = yield from self.coordinator.once("ApiVersions", SOFTWARE)
        features = outcome.body.get("finalized_features", ()) if isinstance(outcome, Answer) else ()
        levels = {row["name"]: row["max_version_level"] for row in features}
        self.second_version = levels.get("transaction.version", 0) >= 2
        self._sender.highest_version = LATEST_VERSION if self.second_version else _V2_PRODUCE - 1
        self.state = State.READY

    def begin(self) -> None:
        self._must_be(State.READY)
        self.state = State.OPEN

    def send(self, topic: str, value: bytes | None, **options: Any) -> Delivery:
        self._must_be(State.OPEN)
        return super().send(topic, value, **options)

    def send_offsets(self, offsets: OffsetsToCommit, group: str | Mapping[str, Any]) -> Flow[None]:
        """Commit these with the transaction.

        `group` is its id, or what a consumer's `group_metadata` says, which lets the coordinator
        fence members of older generations (KIP-447) and needs a broker from 2.5 on.
        """
        self._must_be(State.OPEN)
        member = {"group_id": group} if isinstance(group, str) else dict(group)
        name = member["group_id"]
        if not self.second_version:
            yield from self._told("AddOffsetsToTxn", self._producer | {"group_id": name})
        self._started = True
        coordinator = self._groups.setdefault(
            name, Coordinator(self.view, name, request_timeout_ms=self.options.request_timeout_ms)
        )
        yield from self._told(
            "TxnOffsetCommit",
            {**self._producer, **member, "topics": rows(offsets)},
            coordinator=coordinator,
            code=first_error,
            versions=(
                _V_MEMBERS if len(member) > 1 else 0,
                LATEST_VERSION if self.second_version else _V2_OFFSETS - 1,
            ),
        )

    def commit(self) -> Flow[None]:
        """Everything sent counts from now on, or KafkaError: what failed is to be aborted."""
        if self.state is not State.COMMITTING:
            self._must_be(State.OPEN)
            yield from self.flush()
            self._must_be(State.OPEN)
        self.state = State.COMMITTING
        yield from self._end(committed=True)

    def abort(self) -> Flow[None]:
        """Nothing that was sent since `begin` will ever count."""
        self._must_be(State.OPEN, State.FAILED, State.ABORTING)
        yield from self._leave_nothing(Aborted("the transaction was aborted"))
        self.state = State.ABORTING
        yield from self._end(committed=False)

    def _leave_nothing(self, error: ClientError) -> Flow[None]:
        """Drop what was never sent; what was is seen to its end, as EndTxn must come after it."""
        while True:
            self._drop_unsent(error)
            if not (self._sender.busy or self._accumulator):
                return
            self.urge(True)
            yield from self.step(self.next_wake())
            self.urge(False)

    # --- the end of a transaction --------------------------------------------------------------

    def _end(self, *, committed: bool) -> Flow[None]:
        if self._started:
            answer = yield from self._told(
                "EndTxn",
                self._producer | {"committed": committed},
                versions=(0, LATEST_VERSION if self.second_version else _V2_END - 1),
            )
            if answer.get("producer_id", -1) >= 0:
                self._own.reset((answer["producer_id"], answer["producer_epoch"]))
                self._renew = False
        self._started = False
        self._added.clear()
        self.error = None
        if self._renew:
            self.state = State.ABORTING
            yield from self._take_epoch()
        self.state = State.READY

    def _take_epoch(self) -> Flow[None]:
        """InitProducerId; from the second time on only as the producer that we are."""
        body = {
            "transactional_id": self.transactional_id,
            "transaction_timeout_ms": self.transaction_timeout_ms,
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
        }
        lowest = _V_BUMPS if self.producer_id >= 0 else 0
        answer = yield from self._told("InitProducerId", body, versions=(lowest, LATEST_VERSION))
        self._own.reset((answer["producer_id"], answer["producer_epoch"]))
        self._renew = False

    # --- batches in a transaction --------------------------------------------------------------

    def _admit(self) -> Flow[None]:
        """A coordinator must know of a partition before its first batch, or hears of it by that."""
        new = {batch.place for batch in self._accumulator.heads()} - self._added
        if new and not self.second_version and self.error is None:
            mine = {f"v3_and_below_{name}": value for name, value in self._producer.items()}
            with suppress(ClientError):  # it is in `error` now
                yield from self._told(
                    "AddPartitionsToTxn",
                    mine | {"v3_and_below_topics": _by_topic(new)},
                    code=_added_code,
                    versions=(0, _V_ONE_PRODUCER),
                )
        if self.error is not None:
            self._drop_unsent(self.error)
            return
        if not new:
            return
        self._added |= new
        self._started = True

    def _resolve(self, sequences: Sequences) -> None:
        """Records that nobody knows the fate of end their transaction (maybeResolveSequences)."""
        if sequences.resolve():
            self._failed(ClientError(_UNACKED), renew=True)

    def _given_up(self, batch: ProducerBatch, error: ClientError) -> None:
        code = getattr(error, "code", None)
        if code in _FATAL_BATCHES:
            self._over(error)
        else:
            self._failed(error, renew=batch.sequence >= 0)

    # --- errors --------------------------------------------------------------------------------

    @property
    def _own(self) -> Sequences:
        assert self.sequences is not None
        return self.sequences

    @property
    def _producer(self) -> Struct:
        return {
            "transactional_id": self.transactional_id,
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
        }

    def _must_be(self, *states: State) -> None:
        if self.state in states:
            return
        if self.error is not None:
            raise self.error
        raise ClientError(f"{self.transactional_id}: {self.state.value}")

    def _told(
        self,
        api: str,
        body: Struct,
        *,
        coordinator: Coordinator | None = None,
        code: Callable[[Struct], int] = code_of,
        versions: tuple[int, int] = ANY_VERSION,
    ) -> Flow[Struct]:
        """The answer without an error, or what its error does and the error itself."""
        table = REACTIONS[api]
        try:
            answer = yield from (coordinator or self.coordinator).ask(
                api,
                body,
                give_up=self.view.now + self.max_block_ms,
                code=code,
                again=[each for each, does in table.items() if does is Does.AGAIN],
                elsewhere=[each for each, does in table.items() if does is Does.ELSEWHERE],
                versions=versions,
            )
        except ClientError as lost:
            if api in _ADDING:  # was it heard? only a new epoch makes that the same
                self._failed(lost, renew=True)
            raise
        found = code(answer.body)
        if not found:
            if api == "InitProducerId":
                self._can_renew = answer.version >= _V_BUMPS
            return answer.body
        kind = Fenced if found in _FENCED else KafkaError
        error = kind(found, about=f"{api} of {self.transactional_id}")
        does = table.get(found, Does.AGAIN if is_retriable(found) else Does.END)
        if does is Does.ABORT or (does is Does.RENEW and self._can_renew):
            self._failed(error, renew=does is Does.RENEW)
        else:
            self._over(error)
        raise error

    def _failed(self, error: ClientError, *, renew: bool) -> None:
        """This transaction can only be aborted; without epochs to come that is the end."""
        if self.state is State.OVER:
            return
        self._renew = self._renew or renew
        if self._renew and not self._can_renew:
            self._over(error)
            return
        self.state, self.error = State.FAILED, error

    def _over(self, error: ClientError) -> None:
        self.state, self.error = State.OVER, error


def _by_topic(places: Iterable[TopicPartition]) -> list[Struct]:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(places):
        topics.setdefault(topic, []).append(partition)
    return [{"name": name, "partitions": indexes} for name, indexes in topics.items()]


def _added_code(body: Mapping[str, Any]) -> int:
    """The error that matters: OPERATION_NOT_ATTEMPTED only says that another one does."""
    codes: Sequence[int] = [
        part["partition_error_code"]
        for topic in body["results_by_topic_v3_and_below"]
        for part in topic["results_by_partition"]
        if part["partition_error_code"]
    ]
    own = (code for code in codes if code != E.OPERATION_NOT_ATTEMPTED)
    return next(own, codes[0] if codes else E.NONE)
