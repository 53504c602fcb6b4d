"""Requests whose numbers are the largest and smallest of their types: none is the broker's fault.

The shapes come from the schemas and the names are ones that exist, so that numbers get as far as
the code that computes with them: a deadline of 2**63 - 1 ms, a record from before the epoch, an
offset that wraps. A handler that raises answers UNKNOWN_SERVER_ERROR and logs an error; both are
looked for.
"""

from __future__ import annotations

import logging
import random
from functools import cache
from typing import Any

import pytest

from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.effects import Connection
from touchstone.reference_impl.broker.personas import PERSONAS
from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.records import build
from touchstone.reference_impl.wire.schema import Field, Struct, fields_of, within

REQUESTS = 150  # of each API
NAMES = ["t", "g", "", "__consumer_offsets", "0", "x" * 249]
TIMES = [-(2**63), -(2**62), -1, 0, 2**31, 2**62, 2**63 - 1]
NUMBERS: dict[str, list[int] | list[float]] = {
    "uint16": [0, 2**16 - 1],
    "uint32": [0, 2**32 - 1],
    "float64": [float("nan"), float("inf"), -1.0, 0.0],
} | {f"int{b}": [-(2 ** (b - 1)), -1, 0, 1, 2, 2 ** (b - 1) - 1] for b in (8, 16, 32, 64)}


@cache
def record_sets() -> list[bytes]:
    old = [build(1, [b"a", b"b"], timestamp=at) for at in TIMES]
    producers: list[dict[str, Any]] = [
        {},
        {"producer_id": 2**63 - 1, "producer_epoch": 2**15 - 1, "base_sequence": 2**31 - 1},
        {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0, "transactional": True},
    ]
    return old + [
        build(2, [{"value": b"a"}, {"value": b"b", "timestamp": at}], timestamp=at, **producer)
        for at in TIMES
        for producer in producers
    ]


class Extremes:
    """Draws a request of any API; `topic_id` is one that exists."""

    def __init__(self, draw: random.Random, topic_id: bytes) -> None:
        self.draw, self.topic_id = draw, topic_id

    def body(self, fields: Any, version: int) -> Struct:
        rows = fields_of(fields, version)
        return {row.name: self._value(row, row.type, version) for row in rows}

    def _value(self, row: Field, kind: str, version: int) -> Any:
        choice = self.draw.choice
        if row.nullable and within(row.nullable, version) and self.draw.random() < 0.15:
            return None
        if kind.startswith("[]"):
            return [self._value(row, kind[2:], version) for _ in range(choice([0, 1, 1, 2]))]
        if kind == "struct":
            return self.body(row.fields, version)
        if "partition" in row.name and kind == "int32" and self.draw.random() < 0.6:
            return 0
        if kind in NUMBERS:
            return choice(NUMBERS[kind])
        return {
            "bool": lambda: choice([0, 1, 0x7F, 0xFF]),  # Java takes any byte but 0 for true
            "string": lambda: choice(NAMES),
            "uuid": lambda: choice([bytes(16), b"\xff" * 16, self.topic_id]),
            "bytes": lambda: choice([b"", bytes(8), *record_sets()[:2]]),
            "records": lambda: choice(record_sets()),
        }[kind]()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "controller"),
    [(release, False) for release in PERSONAS]
    + [(release, True) for release, persona in PERSONAS.items() if persona.kraft],
)
def test_no_number_is_a_fault(release, controller, caplog):
    broker = OneBroker(release)
    broker.topic()
    draw = random.Random(f"{release} {controller}")
    extremes = Extremes(draw, broker.cluster.topics["t"].id or bytes(16))
    served = [
        (api, version)
        for api in API.values()
        if registry.handler(api.key) is not None
        for version in api.request.all_versions()
        if broker.brokers[0].persona.serves(api.key, version, controller=controller)
    ]
    caplog.set_level(logging.ERROR)
    assert served
    for number in range(REQUESTS * len({api.key for api, _ in served})):
        api, version = draw.choice(served)
        asked = extremes.body(api.request.fields, version)
        try:
            frame = encode_request(api.key, version, 7, "x", asked)
        except ValueError:  # a null that this version has no place for
            continue
        peer = Connection(number + 2, controller=controller)
        broker.send(frame, connection=peer)
        broker.now += draw.choice([0, 1, 1_000])
        broker.brokers[0].tick(broker.now)
        assert not caplog.records, (api.name, version, asked, caplog.text)
