"""Watches look at a target beside the cases: is everybody else still served, is everything kept?

A campaign names them (`watches = ["canary_records", ...]`, "*" for all); `watching` runs them. Each
file has one subject; the order of this table is that in which they look after a campaign, and
`restart` comes last.
"""

from __future__ import annotations

from touchstone.fuzz.watches.bystanders import Bystanders
from touchstone.fuzz.watches.canary_connection import CanaryConnection
from touchstone.fuzz.watches.canary_group_member import CanaryGroupMember
from touchstone.fuzz.watches.canary_records import CanaryRecords
from touchstone.fuzz.watches.canary_transaction import CanaryTransaction
from touchstone.fuzz.watches.cleaner import Cleaner
from touchstone.fuzz.watches.leaders import Leaders
from touchstone.fuzz.watches.log_growth import LogGrowth
from touchstone.fuzz.watches.resources import Descriptors, IdleProcessor, Memory
from touchstone.fuzz.watches.restart import Restart
from touchstone.fuzz.watches.stored_batches import StoredBatches
from touchstone.fuzz.watches.watch import Watch

WATCHES: dict[str, type[Watch]] = {
    "log_growth": LogGrowth,
    "memory": Memory,
    "canary_connection": CanaryConnection,
    "canary_group_member": CanaryGroupMember,
    "leaders": Leaders,
    "bystanders": Bystanders,
    "stored_batches": StoredBatches,
    "canary_records": CanaryRecords,
    "canary_transaction": CanaryTransaction,
    "cleaner": Cleaner,
    "idle_processor": IdleProcessor,
    "descriptors": Descriptors,
    "restart": Restart,
}
