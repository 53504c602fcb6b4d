"""AlterPartition (AlterIsr on 2.8): a leader reports its in-sync set to the controller.

Sources: broker/control/alter_partition.py; KIP-497, KIP-704.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.control import alter_partition
from touchstone.reference_impl.broker.control.alter_partition import AlterPartition
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, reports: AlterPartition, now: int) -> Struct:
    return reports.answer(request.body, request.header.version)


def fail(request: Request, code: int) -> Struct:
    return alter_partition.refusal(code)
