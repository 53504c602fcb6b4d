"""Machines: a model of what a protocol keeps between requests per file, chosen by name.

`machine.py` says what a machine is, `walk.py` makes scripts of one, `stateful.py` is the same table
as a Hypothesis model.
"""

from __future__ import annotations

from touchstone.fuzz.machines import (
    classic_group,
    consumer_group,
    fetch_session,
    idempotent_producer,
    sasl,
    share_group,
    transaction,
    transaction_v2,
)
from touchstone.fuzz.machines.machine import Machine

MACHINES: dict[str, Machine] = {
    machine.name: machine
    for machine in (
        classic_group.MACHINE,
        consumer_group.MACHINE,
        share_group.MACHINE,
        fetch_session.MACHINE,
        idempotent_producer.MACHINE,
        transaction.MACHINE,
        transaction_v2.MACHINE,
        sasl.MACHINE,
        sasl.PLAIN,
    )
}
