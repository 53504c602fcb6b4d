"""`.kafka_cleanshutdown`: everything in this directory was flushed and closed (LOG-06, LOG-26).

Its presence is the message. Since 3.7 it also says with which broker epoch (KIP-966); older brokers
leave it empty, and an empty one is read as an unknown epoch.
"""

from __future__ import annotations

import json

UNKNOWN_EPOCH = -1


def encode(broker_epoch: int | None = None) -> bytes:
    """`None` writes the empty file of releases before 3.7."""
    if broker_epoch is None:
        return b""
    return f'{{"version":0,"brokerEpoch":{broker_epoch}}}'.encode()


def decode(data: bytes) -> int:
    """The broker epoch; unknown for anything that does not say one, as Kafka only warns."""
    try:
        return int(json.loads(data)["brokerEpoch"])
    except (ValueError, KeyError, TypeError):
        return UNKNOWN_EPOCH
