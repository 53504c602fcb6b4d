"""Planted defects of a client: each changes one thing from outside, and the code knows nothing.

`DEFECTS` names them with a sentence; `plant(core, name)` gives a core of the client (a `Producer`,
a `TransactionalProducer`, a `Consumer`, a member of a group) that defect. Nothing in production
imports this package. Who judges clients must notice each of them (`test_producer_defects.py` and
`test_consumer_defects.py` in `tests/client` do, on made-up brokers).
"""

from __future__ import annotations

from typing import Any

from . import consumer, producer
from .planting import Defect

DEFECTS: dict[str, Defect] = {each.name: each for each in (*producer.TABLE, *consumer.TABLE)}


def plant(core: Any, name: str) -> None:
    """Give this core the defect. Raises KeyError for a name that is not in the table."""
    DEFECTS[name].plant(core)
