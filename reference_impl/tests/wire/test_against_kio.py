"""kio 0.6.5 as an independent reader: its schemas were generated from Kafka, its codec is Rust.

kio reads the bytes we wrote and writes what it read; the bytes must be ours again, and we must read
them as the message we began with. Values are such as kio can hold: it maps numbers to durations,
instants and enumerations by the names of their fields.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from kio.schema.index import api_key_map, schema_name_map
from kio.static.constants import EntityType

from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.codec import decode, encode

from .messages import message

EACH = 3
READER = Path(__file__).with_name("kio_reader.py")


def pairs():
    """(our schema, version, kio's class) for all that kio has, both directions."""
    for key, name in api_key_map.items():
        for version, types in sorted(schema_name_map[name].items()):
            yield API[key].request, version, types[EntityType.request]
            yield API[key].response, version, types[EntityType.response]


def test_kio_has_302_versions_to_compare():
    assert len(list(pairs())) == 2 * 302


def ask(lines):
    """One process for all; its answers in order."""
    answered = subprocess.run(
        [sys.executable, str(READER)], input="\n".join(lines), capture_output=True, text=True,
        timeout=300, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in answered.stdout.splitlines()]


@pytest.fixture(scope="module")
def witnessed():
    """Every message with the bytes kio made of it."""
    asked, lines = [], []
    for schema, version, where in pairs():
        rng = random.Random(f"kio {schema.name} {version}")
        for _ in range(EACH):
            value = message(schema, version, rng, plain=True)
            data = encode(schema, version, value)
            asked.append((schema, version, value, data))
            lines.append(json.dumps([where, data.hex()]))
    answers = ask(lines)
    return [(*one, answer) for one, answer in zip(asked, answers, strict=True)]


@pytest.mark.slow
def test_kio_writes_the_same_bytes(witnessed):
    differ = [
        (schema.name, version, data.hex(), answer)
        for schema, version, _, data, answer in witnessed
        if answer != data.hex()
    ]
    assert not differ, differ[:5]


@pytest.mark.slow
def test_we_read_what_kio_wrote(witnessed):
    for schema, version, value, _, answer in witnessed:
        data = bytes.fromhex(answer)
        assert decode(schema, version, data) == (value, len(data))


def test_kio_would_notice():
    """A byte too many, a field of another width: the witness is awake."""
    where = schema_name_map["metadata"][12][EntityType.request]
    good = encode(API[3].request, 12, {"topics": []})
    other = encode(API[3].request, 9, {"topics": [{"name": "t"}]})
    lines = [json.dumps([where, data.hex()]) for data in (good, good + b"\0", other)]
    first, *rest = ask(lines)
    assert first == good.hex()
    assert not {(good + b"\0").hex(), other.hex()} & set(rest)
