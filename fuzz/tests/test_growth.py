"""What a request costs grows as the request does: every array of every served request is widened.

A request of n elements, one of 4n and one of 16n may cost in proportion and no more, or one frame
stops everybody for a minute. Counted are calls, of Python's functions and of built-in ones; that
what a built-in one compares counts too (`x in list`, `set(rows)`), the values of the request are of
classes whose hash and equality are Python's. No clock is read.
"""

from __future__ import annotations

import gc
import random
import sys
from typing import Any

import pytest

from touchstone.fuzz.generator import TOPICS, TYPES, Generator, Pair
from touchstone.fuzz.overlay import Rule, rule_of
from touchstone.fuzz.roles import Subject
from touchstone.harness.model import advertised
from touchstone.reference_impl.broker import broker as broker_module
from touchstone.reference_impl.broker.control.internal_topics import OFFSETS, SHARES, TRANSACTIONS
from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.schema import Field, Struct, fields_of

RELEASE = "4.3"
FEW = 25
STEEPEST = 9.0
"""From (n to 4n) to (4n to 16n) what is linear grows 4 times, what is quadratic 16 times. Up to 7.5
are seen where an answer is so large that its parts are joined one by one.
"""
NUMBERED = {
    "broker_ids", "index", "partition", "partition_index", "partition_indexes", "partitions",
    "producer_id",
}  # fmt: skip
"""Numbers that tell elements apart."""


def served() -> list[Pair]:
    """The newest version of each request that this release serves."""
    table = advertised.table(RELEASE).items()
    return [Pair(k, high) for k, (_, high) in table if k in API and API[k].request.has(high)]


def arrays(fields, version: int, path: str = ""):
    for row in fields_of(fields, version):
        here = f"{path}.{row.name}" if path else row.name
        if row.is_array:
            yield here
        if row.element == "struct":
            yield from arrays(row.fields, version, here)


PLACES = [
    (pair, path) for pair in served() for path in arrays(API[pair.key].request.fields, pair.version)
]


class Widened(Generator):
    """Makes requests with `count` elements in one array and one in each other."""

    def __init__(self, path: str, count: int) -> None:
        super().__init__([], random.Random(0))
        self.path, self.count = path, count

    def _value(self, row: Field, subject: Subject, path: str) -> Any:
        if row.element == "struct" and not row.is_array and self.path.startswith(f"{path}."):
            return self._struct(row.fields, subject, path)  # never null: the array is inside
        if row.is_array:
            return self._array(row, subject, path, rule_of(subject.key, path))
        return super()._value(row, subject, path)

    def _array(self, row: Field, subject: Subject, path: str, rule: Rule) -> list[Any]:
        many = self.count if path == self.path else 1
        if row.element != "struct":
            plain = rule.role is None or rule.whole
            one = TYPES.get(row.element, (0,))[0] if plain else rule.role(subject)
            return [_apart(row, one, at) for at in range(many)]
        return [self._element(row, subject, path, at) for at in range(many)]

    def _element(self, row: Field, subject: Subject, path: str, at: int) -> Struct:
        one = self._struct(row.fields, subject, path)
        for child in fields_of(row.fields, subject.version):
            one[child.name] = _apart(child, one[child.name], at)
        return one


def _apart(row: Field, value: Any, at: int) -> Any:
    """The value for the element at this place: names, ids and numbers differ from all others'."""
    if row.is_array and type(value) is list or not at:
        return value
    if row.element == "string":
        return value and f"{value}-{at}"
    if row.element == "uuid":
        return at.to_bytes(16, "big")
    return at if row.name in NUMBERED else value


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


def cost(pair: Pair, path: str, count: int) -> tuple[int, int]:
    """Calls made until this request is answered, and bytes of the answer."""
    one = OneBroker(RELEASE)
    for name in (*TOPICS, OFFSETS, SHARES, TRANSACTIONS):
        one.topic(name, 4)
    one.brokers[0].tick(one.now)
    body = Widened(path, count).body(pair)
    frame = encode_request(pair.key, pair.version, 7, "test", body)
    calls = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    gc.disable()  # its callbacks are calls too
    sys.setprofile(note)
    try:
        effects = one.send(frame)
    finally:
        sys.setprofile(None)
        gc.enable()
    parts = (part for effect in effects for part in getattr(effect, "parts", ()))
    return calls, sum(map(len, parts))


def growth(few: int, more: int, most: int) -> float:
    return (most - more) / max(3 * FEW, more - few)  # less than one an element is nothing


@pytest.mark.parametrize(
    ("pair", "path"), PLACES, ids=[f"{API[p.key].name}-{path}" for p, path in PLACES]
)
def test_the_cost_of_a_request_is_linear_in_each_array(pair, path, monkeypatch):
    real = broker_module.decode

    def decode(*arguments: Any, **named: Any) -> tuple[Struct, int]:
        body, at = real(*arguments, **named)
        return counted(body), at

    monkeypatch.setattr(broker_module, "decode", decode)
    cost(pair, path, FEW)  # what is made once, for the first request of its kind, is made
    costs = [cost(pair, path, FEW * times) for times in (1, 4, 16)]
    for what, figures in zip(("calls", "bytes"), zip(*costs, strict=True), strict=True):
        assert growth(*figures) < STEEPEST, f"{what} at n, 4n, 16n: {figures}"
