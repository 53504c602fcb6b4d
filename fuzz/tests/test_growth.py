"""What a request costs grows as the request does: every array of every served request is widened.

A request of n elements, one of 4n and one of 16n may cost in proportion and no more, or one frame
stops everybody for a minute. Counted are calls, of Python's functions and of built-in ones; that
what a built-in one compares counts too (`x in list`, `set(rows)`), the values of the request are of
classes whose hash and equality are Python's. No clock is read.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

import pytest

from touchstone.fuzz.generator import TOPICS, Pair, pairs_of
from touchstone.fuzz.widened import Widened, places
from touchstone.reference_impl.broker import broker as broker_module
from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.control.internal_topics import OFFSETS, SHARES, TRANSACTIONS
from touchstone.reference_impl.broker.effects import Connection
from touchstone.reference_impl.broker.personas import PERSONAS
from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.schema import Struct

RELEASE = "4.3"
FEW = 25
STEEPEST = 7.0
"""From (n to 4n) to (4n to 16n) what is linear grows 4 times, what is quadratic 16 times."""


NAMED, KEPT = (5, 20), (20, 80)
"""Elements of a request, and partitions of each topic: all that are named are there."""


def served() -> list[Pair]:
    """Every pair that this release serves, on either listener."""
    persona = PERSONAS[RELEASE]
    return [
        pair
        for controller in (False, True)
        for pair in pairs_of(persona.listed(controller=controller))
        if persona.serves(pair.key, pair.version, controller=controller)
        and registry.handler(pair.key) is not None
    ]


PLACES = places(served())


class _Int(int):
    def __hash__(self) -> int:
        return int.__hash__(self)

    def __eq__(self, other: object) -> bool:
        return int.__eq__(self, other) is True


class _Str(str):
    def __hash__(self) -> int:
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True


class _Bytes(bytes):
    def __hash__(self) -> int:
        return bytes.__hash__(self)

    def __eq__(self, other: object) -> bool:
        return bytes.__eq__(self, other) is True


_COUNTED = {int: _Int, str: _Str, bytes: _Bytes}


def counted(value: Any) -> Any:
    """The same body, of values whose comparison is a call."""
    if type(value) is dict:
        return {name: counted(each) for name, each in value.items()}
    if type(value) is list:
        return [counted(each) for each in value]
    made = _COUNTED.get(type(value))
    return value if made is None else made(value)


def cost(
    pair: Pair, path: str, count: int, *, same: bool = False, partitions: int = 4
) -> tuple[int, int]:
    """Calls made until this request is answered, and bytes of the answer."""
    one = OneBroker(RELEASE)
    for name in (*TOPICS, OFFSETS, SHARES, TRANSACTIONS):
        one.topic(name, partitions)
    one.brokers[0].tick(one.now)
    body = Widened(path, count, same=same).body(pair)
    frame = encode_request(pair.key, pair.version, 7, "test", body)
    controller = not PERSONAS[RELEASE].serves(pair.key, pair.version)
    calls = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    gc.disable()  # its callbacks are calls too
    sys.setprofile(note)
    try:
        effects = one.send(frame, connection=Connection(2, controller=controller))
    finally:
        sys.setprofile(None)
        gc.enable()
    parts = (part for effect in effects for part in getattr(effect, "parts", ()))
    return calls, sum(map(len, parts))


@pytest.fixture
def counting(monkeypatch):
    real = broker_module.decode_known

    def decode(*arguments: Any) -> Struct:
        return counted(real(*arguments))

    monkeypatch.setattr(headers, "_WORTH_GATHERING", 0)  # parts of short answers one by one, too
    monkeypatch.setattr(broker_module, "decode_known", decode)


def growth(few: int, more: int, most: int) -> float:
    return (most - more) / max(3 * FEW, more - few)  # less than one an element is nothing


@pytest.mark.parametrize("same", [False, True], ids=["apart", "same"])
@pytest.mark.parametrize(
    ("pair", "path"), PLACES, ids=[f"{API[p.key].name}-{path}" for p, path in PLACES]
)
def test_the_cost_of_a_request_is_linear_in_each_array(pair, path, same, counting):
    cost(pair, path, FEW, same=same)  # what is made once, for the first of its kind, is made
    costs = [cost(pair, path, FEW * times, same=same) for times in (1, 4, 16)]
    for what, figures in zip(("calls", "bytes"), zip(*costs, strict=True), strict=True):
        assert growth(*figures) < STEEPEST, f"{what} at n, 4n, 16n: {figures}"


# An element of this one is answered with all the partitions of its topic.
SHOWN_WHOLE = "DescribeTopicPartitions"
LOOKED_UP = [(pair, path) for pair, path in PLACES if API[pair.key].name != SHOWN_WHOLE]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "path"), LOOKED_UP, ids=[f"{API[p.key].name}-{path}" for p, path in LOOKED_UP]
)
def test_an_element_of_a_request_does_not_walk_what_the_broker_keeps(pair, path, counting):
    """Each costs the same beside four times the partitions; once for all, a walk may cost more."""
    cost(pair, path, FEW)
    (few, _), (more, _), (few_kept, _), (more_kept, _) = (
        cost(pair, path, named, partitions=kept) for kept in KEPT for named in NAMED
    )
    of_each = ((more_kept - few_kept) - (more - few)) / (NAMED[1] - NAMED[0])
    assert of_each < STEEPEST, f"calls at n, 4n: {few}, {more}; much kept: {few_kept}, {more_kept}"
