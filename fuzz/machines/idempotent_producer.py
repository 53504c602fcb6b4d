"""An idempotent producer: what a partition remembers of a producer id's epoch and sequence.

Sources: KIP-98, KIP-360; ProducerStateManager and ProducerAppendInfo at 1.0.2, 2.8.2, 4.3.1;
observed on 4.3.1, 3.9.2, 2.8.2, 1.0.2.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from touchstone.fuzz.machines import requests
from touchstone.fuzz.machines.machine import (
    Act,
    Batch,
    Difference,
    Machine,
    Var,
    no,
    ok,
    row,
    unasked,
)
from touchstone.fuzz.machines.requests import PRODUCED, TOPIC
from touchstone.reference_impl.wire.errors import ErrorCode as E


class State(StrEnum):
    FRESH = "a new producer id"
    SENT = "its first epoch has batches"
    NEXT_EPOCH = "its next epoch has batches"


class Action(StrEnum):
    INIT = "another producer id"
    SEND = "the next batch"
    REPEAT = "the last batch again"
    GAP = "a batch that leaves one out"
    FAR = "a batch far ahead"
    BUMP = "the first batch of the next epoch"
    BUMP_LATE = "a later batch of the next epoch"
    OLD_EPOCH = "a batch of the epoch before"
    PLAIN = "a batch without a producer id"


_S, _A = State, Action


def _send(epoch: int = 0, sequence: Var | int = 0, **how: Any) -> Act:
    batch = Batch((b"one",), Var("producer"), Var("epoch", epoch), sequence)
    return requests.produce(TOPIC, batch, **how)


_NEXT_OFFSET = {PRODUCED: Var("end", 1)}
_OWN = {"offset": PRODUCED, "end": PRODUCED}
_SAME_OFFSET = {PRODUCED: Var("offset")}

MACHINE = Machine(
    "idempotent_producer",
    "A producer id's batches: in order, repeated, with gaps, of other epochs.",
    State,
    Action,
    {
        **row(_S.FRESH, {
            _A.INIT: ok(_S.FRESH),
            _A.SEND: ok(_S.SENT),
            _A.REPEAT: no(E.INVALID_RECORD),
            _A.GAP: ok(_S.SENT),
            _A.FAR: ok(_S.SENT),
            _A.BUMP: ok(_S.NEXT_EPOCH),
            _A.BUMP_LATE: ok(_S.NEXT_EPOCH),
            _A.OLD_EPOCH: unasked("a batch of epoch -1 has none"),
            _A.PLAIN: ok(_S.FRESH),
        }),
        **row(_S.SENT, {
            _A.INIT: ok(_S.FRESH),
            _A.SEND: ok(_S.SENT, shows=_NEXT_OFFSET),
            _A.REPEAT: ok(_S.SENT, shows=_SAME_OFFSET),
            _A.GAP: no(E.OUT_OF_ORDER_SEQUENCE_NUMBER),
            _A.FAR: no(E.OUT_OF_ORDER_SEQUENCE_NUMBER),
            _A.BUMP: ok(_S.NEXT_EPOCH),
            _A.BUMP_LATE: no(E.OUT_OF_ORDER_SEQUENCE_NUMBER),
            _A.OLD_EPOCH: no(E.INVALID_PRODUCER_EPOCH),
            _A.PLAIN: ok(_S.SENT),
        }),
        **row(_S.NEXT_EPOCH, {
            _A.INIT: ok(_S.FRESH),
            _A.SEND: ok(_S.NEXT_EPOCH, shows=_NEXT_OFFSET),
            _A.REPEAT: ok(_S.NEXT_EPOCH, shows=_SAME_OFFSET),
            _A.GAP: no(E.OUT_OF_ORDER_SEQUENCE_NUMBER),
            _A.FAR: no(E.OUT_OF_ORDER_SEQUENCE_NUMBER),
            _A.BUMP: ok(_S.NEXT_EPOCH),
            _A.BUMP_LATE: no(E.OUT_OF_ORDER_SEQUENCE_NUMBER),
            _A.OLD_EPOCH: no(E.INVALID_PRODUCER_EPOCH),
            _A.PLAIN: ok(_S.NEXT_EPOCH),
        }),
    },
    {
        _A.INIT: requests.init_producer_id(sets={"sequence": 0}),
        _A.SEND: _send(0, Var("sequence"), counts={"sequence": 1}, brings=_OWN),
        _A.REPEAT: _send(0, Var("sequence", -1)),
        _A.GAP: _send(0, Var("sequence", 1), counts={"sequence": 2}, brings=_OWN),
        _A.FAR: _send(0, Var("sequence", 10**6), counts={"sequence": 10**6 + 1}, brings=_OWN),
        _A.BUMP: _send(1, 0, counts={"epoch": 1}, sets={"sequence": 1}, brings=_OWN),
        _A.BUMP_LATE: _send(1, 5, counts={"epoch": 1}, sets={"sequence": 6}, brings=_OWN),
        _A.OLD_EPOCH: _send(-1, Var("sequence")),
        _A.PLAIN: requests.produce(TOPIC, Batch(), brings={"end": PRODUCED}),
    },
    opening=(requests.look_up(TOPIC), requests.init_producer_id(sets={"sequence": 0})),
    unbound={"topic id": requests.NO_TOPIC_ID, "producer": 1 << 40, "epoch": 0, "sequence": 0,
             "offset": 0, "end": 0},
    differences=(
        Difference(("1.0", "2.2"), {
            (_S.FRESH, _A.REPEAT): no(E.CORRUPT_MESSAGE),
            (_S.FRESH, _A.GAP): no(E.UNKNOWN_PRODUCER_ID),
            (_S.FRESH, _A.FAR): no(E.UNKNOWN_PRODUCER_ID),
            (_S.FRESH, _A.BUMP_LATE): no(E.UNKNOWN_PRODUCER_ID),
        }),
    ),
)  # fmt: skip
