"""Put a fault into the metrics of PushTelemetry: a length, a field number, a wire type, a cut."""

from __future__ import annotations

import random

from touchstone.fuzz.layers import FieldPlace, Opened, within_blob

LAYER = "telemetry"
METRICS = "metrics"
BYTES = (0x00, 0x07, 0x0B, 0x0F, 0x7F, 0x80, 0xFF)  # wire types 3, 6 and 7 among them


def change(opened: Opened, draw: random.Random) -> bytes:
    def wanted(place: FieldPlace) -> bool:
        return place[2].name == METRICS and place[2].type == "bytes"

    return within_blob(opened, draw, wanted, lambda blob: broken(blob, draw))


def broken(blob: bytes, draw: random.Random) -> bytes:
    """Protocol buffers that are not what they were."""
    at = draw.randrange(len(blob))
    return draw.choice(
        (
            blob[:at],
            blob[:at] + bytes([draw.choice(BYTES)]) + blob[at + 1 :],
            blob[:at] + b"\xff\xff\xff\xff\x0f" + blob[at + 1 :],
            blob[:at] + b"\xff" * 10 + blob[at + 1 :],
            blob * 50,
            blob[at:],
        )
    )
