"""Planted defects: what a switch changes, outside the code that it changes.

`faults/switches.py` says which switches there are and which claim must notice each; the modules
here say what each of them does. They are loaded when a switch is on, and only then.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.defects import (
    apis,
    broker,
    cluster,
    data,
    groups,
    hostile,
    log,
    security,
    shares,
    streams,
    transactions,
    values,
)
from touchstone.reference_impl.broker.defects.planting import plant

__all__ = [
    "apis",
    "broker",
    "cluster",
    "data",
    "groups",
    "hostile",
    "log",
    "plant",
    "security",
    "shares",
    "streams",
    "transactions",
    "values",
]
