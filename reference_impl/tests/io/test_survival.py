"""A broker cannot be killed by bytes: valid requests, bent in every way, and it still serves.

One seed draws everything. The long campaign belongs to `fuzz`; this is its smoke inside tier 0.
"""

from __future__ import annotations

import logging
import random

import pytest

from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.effects import Connection
from touchstone.reference_impl.broker.personas import PERSONAS
from touchstone.reference_impl.tests.broker.one_broker import OneBroker, batch
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import encode_request

SEED = 20_261
FRAMES = 6_000
# Obeyed where they are whole: what a ZooKeeper controller says, and UnregisterBroker. After one of
# them a broker may believe another controller, or be out of its cluster.
OBEYED = {4, 5, 6, 64}


def seeds(release: str) -> list[bytes]:
    """A valid frame for every served version, with records where it has room for them."""
    rows = {
        0: {
            "acks": 1,
            "timeout_ms": 1,
            "topic_data": [{"name": "t", "partition_data": [{"index": 0, "records": batch()}]}],
        },
        1: {
            "topics": [
                {
                    "topic": "t",
                    "partitions": [{"partition": 0, "fetch_offset": 1, "partition_max_bytes": 99}],
                }
            ]
        },
        2: {"topics": [{"name": "t", "partitions": [{"partition_index": 0, "timestamp": -1}]}]},
    }
    persona, frames = PERSONAS[release], []
    for key in registry.stems():
        if key in OBEYED:
            continue
        for version in API[key].versions:
            if persona.serves(key, version):
                frames.append(encode_request(key, version, 7, "bent", rows.get(key, {})))
    return frames


def bend(frame: bytes, chance: random.Random) -> bytes:
    data = bytearray(frame)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        at = chance.randrange(len(data)) if data else 0
        match chance.randrange(6):
            case 0 if data:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                del data[at:]
            case 2:
                data[at:at] = chance.randbytes(chance.randrange(1, 9))
            case 3:
                data[at : at + 4] = chance.choice((b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff"))
            case 4:
                data[at : at + 2] = chance.choice((b"\xff\x7f", b"\x80\x00"))
            case _:
                del data[at : at + chance.randrange(1, 9)]
    return bytes(data)


@pytest.mark.slow
@pytest.mark.parametrize("release", PERSONAS)
def test_a_broker_outlives_bent_frames(release, caplog):
    chance, broker = random.Random(SEED), OneBroker(release)
    broker.topic()
    originals = seeds(release)
    with caplog.at_level(logging.CRITICAL, "touchstone.broker"):
        for number in range(FRAMES):
            peer = Connection(number)
            frame = bend(chance.choice(originals), chance)
            effects = broker.send(frame, connection=peer)
            assert len([effect for effect in effects if effect.connection is peer]) <= 1
            broker.brokers[0].closed(peer)
    assert len(broker.brokers[0].purgatory) == 0
    broker.topic("after")
    version = 3 if release == "1.0" else 7
    assert broker.produce(batch(), version=version, name="after")["error_code"] == 0
