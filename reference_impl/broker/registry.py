"""Which handler serves which API key: the folder `handlers/` is the table.

A file `handlers/kNN_name.py` serves key NN; its stem is the schema's stem. It is imported when the
first such request arrives, so that a broker that is asked little loads little (start-up is a
promise: design.md section 5). Adding an API is adding a file.

The same holds for coordinators: who leads a partition of an internal topic coordinates what is kept
there, and its module is told when that changes.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

# internal topic -> modules whose `leads_changed(broker, now)` takes partitions up or lets them go
COORDINATORS = {
    "__transaction_state": ("coordinators.transactions",),
    "__consumer_offsets": ("coordinators.consumer_groups", "coordinators.share_groups"),
    "__share_group_state": ("coordinators.share_states",),
}
# internal topic -> the module that is told, by `topics_deleted(broker, now)`, that topics are gone
DELETION_LISTENERS = {"__share_group_state": "coordinators.share_states"}
_FOLDER = Path(__file__).parent / "handlers"


@cache
def stems() -> dict[int, str]:
    """API key -> module name, for every handler there is."""
    names = sorted(path.stem for path in _FOLDER.glob("k[0-9][0-9]_*.py"))
    return {int(name[1:3]): name for name in names}


@cache
def handler(key: int) -> ModuleType | None:
    """The module that serves `key`, or None when it is not served yet."""
    stem = stems().get(key)
    return import_module(f"touchstone.reference_impl.broker.handlers.{stem}") if stem else None


def leads_changed(broker: Any, topic: str, now: int) -> None:
    """A partition of this internal topic has another leader, or is no more."""
    for name in COORDINATORS[topic]:
        import_module(f"touchstone.reference_impl.broker.{name}").leads_changed(broker, now)


def topics_deleted(broker: Any, now: int) -> None:
    """Some topic is no more, of which coordinators may keep something."""
    for topic, name in DELETION_LISTENERS.items():
        if topic in broker.cluster.topics:
            import_module(f"touchstone.reference_impl.broker.{name}").topics_deleted(broker, now)
