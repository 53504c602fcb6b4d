"""AddPartitionsToTxn: partitions enter a transaction, all of them or none.

One that does not exist refuses them all: UNKNOWN_TOPIC_OR_PARTITION for it, OPERATION_NOT_ATTEMPTED
for the rest. Up to v3 a client asks for one transactional id; from v4 on brokers ask for many at
once, either to add or only to verify (KIP-890).

A request of v4 on about no transaction is never answered (3.9.2, 4.3.1).

v2 answers PRODUCER_FENCED (KIP-588). v5 answers TRANSACTION_ABORTABLE for what is not in, as v4
does on releases that have v5.

Sources: KafkaApis.handleAddPartitionsToTxnRequest at 1.0.2, 2.8.2, trunk of 2024-10; observed on
all five releases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from touchstone.reference_impl.broker.coordinators.transactions import Transactions
from touchstone.reference_impl.broker.effects import NEVER, Request, Wait, waiting
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.txn.coordinator import Producer
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_FENCED, FIRST_BATCHED = 2, 4
OLD = "v3_and_below_"


def handle(
    request: Request, transactions: Transactions, metadata: MetadataView, persona: Persona, now: int
) -> Struct | Wait:
    if request.header.version < FIRST_BATCHED:
        body = request.body
        producer = Producer(body[OLD + "producer_id"], body[OLD + "producer_epoch"])
        topics = body[OLD + "topics"]
        ticket = _one(
            transactions,
            metadata,
            persona,
            body[OLD + "transactional_id"],
            producer,
            topics,
            False,
            now,
        )
        return waiting(ticket, lambda answer: {OLD_RESULTS: _words(request, answer["codes"])})
    if not request.body["transactions"]:  # who answers is the last of them that is done
        return Wait(NEVER, (), lambda _: None, lambda _: None)
    tickets = [
        _one(
            transactions,
            metadata,
            persona,
            row["transactional_id"],
            Producer(row["producer_id"], row["producer_epoch"]),
            row["topics"],
            row["verify_only"],
            now,
        )
        for row in request.body["transactions"]
    ]
    names = [row["transactional_id"] for row in request.body["transactions"]]
    return waiting(
        _together(tickets),
        lambda _: {
            "results_by_transaction": [
                {"transactional_id": name, "topic_results": _rows((ticket.answer or {})["codes"])}
                for name, ticket in zip(names, tickets, strict=True)
            ]
        },
    )


OLD_RESULTS = "results_by_topic_v3_and_below"


def fail(request: Request, code: int) -> Struct:
    """The error once for all since many transactions are asked about, before in each partition."""
    topics = request.body.get(OLD + "topics") or ()
    return {"error_code": code, OLD_RESULTS: _rows(dict.fromkeys(_named(topics), code))}


def _one(
    transactions: Transactions,
    metadata: MetadataView,
    persona: Persona,
    transactional_id: str,
    producer: Producer,
    topics: list[Struct],
    verify: bool,
    now: int,
) -> Ticket[Struct]:
    """A ticket whose answer is {"codes": {(topic, partition): code}}."""
    named = _named(topics)
    topics_alone = persona.quirk("transactions.topics-alone-are-checked")
    unknown = {
        key
        for key in named
        if key[0] not in metadata.topics or not (topics_alone or metadata.partition(*key))
    }
    if unknown:
        missing, rest = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED
        return Ticket({"codes": {key: missing if key in unknown else rest for key in named}})
    if not transactional_id:
        return Ticket({"codes": dict.fromkeys(named, ErrorCode.INVALID_REQUEST)})
    coordinator = transactions.coordinator
    if verify:
        code, known = coordinator.verify(transactional_id, producer)
        absent = code or ErrorCode.TRANSACTION_ABORTABLE
        codes = {key: code if key in known else absent for key in named}
        return Ticket({"codes": codes})
    added = coordinator.add(transactional_id, producer, frozenset(named), now)
    return _after(added, lambda answer: {"codes": dict.fromkeys(named, answer["error_code"])})


def _after(ticket: Ticket[Struct], form: Callable[[Struct], Struct]) -> Ticket[Struct]:
    """The same answer in another form, now or when it comes."""
    later: Ticket[Struct] = Ticket()
    ticket.then(lambda answer: later.give(form(answer)))
    return later


def _together(tickets: list[Ticket[Struct]]) -> Ticket[Struct]:
    """An answer once every one of these has its own."""
    left = [ticket for ticket in tickets if ticket.answer is None]
    if not left:
        return Ticket({})
    whole: Ticket[Struct] = Ticket()

    def came() -> None:
        if all(ticket.answer is not None for ticket in left):
            whole.give({})

    for ticket in left:
        ticket.watch = came
    return whole


def _named(topics: Iterable[Struct]) -> list[tuple[str, int]]:
    return [(topic["name"], index) for topic in topics for index in topic["partitions"]]


def _words(request: Request, codes: dict[tuple[str, int], int]) -> list[Struct]:
    fenced, older = ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH
    if request.header.version < FIRST_FENCED:
        codes = {key: older if code == fenced else code for key, code in codes.items()}
    return _rows(codes)


def _rows(codes: dict[tuple[str, int], int]) -> list[Struct]:
    topics: dict[str, list[dict[str, int]]] = {}
    for (topic, index), code in codes.items():
        row = {"partition_index": index, "partition_error_code": code}
        topics.setdefault(topic, []).append(row)
    return [{"name": name, "results_by_partition": rows} for name, rows in topics.items()]
